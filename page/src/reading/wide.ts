/** Wide tables: the levels of one factor are columns, and become rows. */

import { MOST_NAMED, TableError } from "./grid.ts";
import { columnOf, type Laid, noted } from "./layout.ts";
import { decimalSign, plainNumber } from "./numerals.ts";
import { isWord, matched, matches, ruleLimit } from "./rules.ts";
import { listing } from "./sentences.ts";
import { casefold, distinct, free, hasDigit } from "./texts.ts";
import { unitSpelling } from "./units.ts";
import { TextKinds, writtenNumber } from "./values.ts";

/** Make rows of the columns that are levels of one factor, if there are such; `wide` says factor=outcome. */
export function melted(sheet: Laid, wide: string | null, delimiter: string): Laid {
  const kinds = sheet.names.map((_, place) => new TextKinds(columnOf(sheet, place)));
  const places = valueColumns(sheet, kinds, delimiter);
  if (wide !== null) {
    const [factor, outcome] = asked(wide);
    const found = places.length ? places : endOf(kinds, 1);
    if (found.length < 2 || found.length === sheet.names.length) {
      throw new TableError(`--wide ${wide}: two columns of numbers beside a column of labels are needed, and there are ${listing(sheet.names, 12)}; leave --wide out, or name the columns' roles`);
    }
    return rowsOf(sheet, found, factor, outcome);
  }
  if (!places.length) return joined(sheet);
  const groups = distinct(places.map((place) => sheet.above[place]!)).filter(Boolean);
  const taken = new Set(sheet.names);
  return rowsOf(sheet, places, free(groups.length === 1 ? groups[0]! : "column", taken), free("value", taken));
}

function asked(wide: string): [string, string] {
  const at = wide.indexOf("=");
  const [factor, outcome] = [wide.slice(0, Math.max(at, 0)).trim(), at < 0 ? "" : wide.slice(at + 1).trim()];
  if (!factor || !outcome || factor === outcome) throw new TableError(`--wide '${wide}' names no factor and outcome; write them as cell_line=viability`);
  return [factor, outcome];
}

const isValues = ({ counts, others }: TextKinds): boolean => counts.size > 0 && !others.size;
const isRemarks = ({ others, total }: TextKinds, first: TextKinds): boolean => others.size > 0 && 2 * total < first.total;

/** The columns of numbers after the last column of labels; a column of few remarks is no label. */
function endOf(kinds: readonly TextKinds[], labels: number): number[] {
  const places = [...kinds.keys()].filter((place) => place >= labels && !isRemarks(kinds[place]!, kinds[0]!));
  const label = places.filter((place) => !isValues(kinds[place]!) && kinds[place]!.counts.size).at(-1);
  return places.filter((place) => label === undefined || place > label);
}

/** The columns that are levels of one factor, or none. */
function valueColumns(sheet: Laid, kinds: readonly TextKinds[], delimiter: string): number[] {
  const grouped = [...kinds.keys()].filter((place) => sheet.above[place] && isValues(kinds[place]!));
  if (grouped.length > 1 && distinct(grouped.map((place) => sheet.above[place])).length === 1) return grouped;
  const levels = [...kinds.keys()].filter((place) => place && isAmount(sheet.names[place]!) && isValues(kinds[place]!));
  const labels = [...kinds.keys()].filter((place) => !levels.includes(place));
  const apart = (): boolean => keysOf(sheet, labels).length === sheet.rows.length || areLabels(labels.map((place) => kinds[place]!));
  return levels.length > 1 && apart() ? levels : wordColumns(sheet, kinds, delimiter);
}

/** The distinct texts of some columns together. */
function keysOf(sheet: Laid, places: readonly number[]): string[][] {
  return places.length ? [...new Map(sheet.rows.map((row) => places.map((place) => row[place]!)).map((key) => [JSON.stringify(key), key])).values()] : [];
}

/** Whether a name is a number, alone, with a unit, or after a word that counts levels: 10 uM, day 3. */
function isAmount(name: string): boolean {
  const number = writtenNumber(name);
  if (number && (!number.unit || number.unit === "%" || unitSpelling(number.unit))) return true;
  if ([...name].length >= 40) return false;
  if (matches("range_name", name)) return true;
  const match = matched("item_name", name);
  return match !== null && isWord("level_stems", match[1]!.replace(/^[ _.-]+|[ _.-]+$/g, ""));
}

/** Whether columns could be labels: no numbers with decimals. */
function areLabels(kinds: readonly TextKinds[]): boolean {
  return kinds.length > 0 && !kinds.some(({ numbers }) => [...numbers.values()].some(({ digits }) => digits.includes(".")));
}

/** Columns named by words that are as alike as levels of one factor are, and identified by their labels. */
function wordColumns(sheet: Laid, kinds: readonly TextKinds[], delimiter: string): number[] {
  for (let labels = 1; labels < kinds.length - 1; labels++) {
    const keys = keysOf(sheet, [...kinds.keys()].slice(0, labels));
    if (keys.length < sheet.rows.length || !keys.every((key) => key.every(Boolean))) continue;
    // Rows that are numbered are not labelled.
    if (labels === 1 && sheet.rows.every((row, index) => row[0] === String(index + 1))) return [];
    const places = endOf(kinds, labels);
    const count = kinds.length - labels - kinds.slice(labels).filter((kind) => isRemarks(kind, kinds[0]!)).length;
    const few = kinds.slice(0, labels).every(({ counts }) => counts.size <= ruleLimit("levels of the labels of a wide table, at most"));
    const named = places.map((place) => sheet.names[place]!);
    const words = places.length === count && count <= ruleLimit("word-named columns of a wide table, at most");
    const levels = named.every((name) => isWord("either_case", name)) || !named.some(isMeasured);
    return sheet.rows.length > 1 && count > 1 && words && few && levels && areAlike(places.map((place) => kinds[place]!), delimiter) ? places : [];
  }
  return [];
}

/** Whether a name is that of a measured variable or of an item of a list: age, Sepal.Length, x1. */
function isMeasured(name: string): boolean {
  const words = casefold(name).match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.some((word) => isWord("measured", word)) || hasDigit(name);
}

/** Whether numbers of columns are of one size. */
function areAlike(kinds: readonly TextKinds[], delimiter: string): boolean {
  const numbers = kinds.map((kind) => numbersOf(kind, delimiter).map(Math.abs));
  if (!numbers.every((column) => column.length)) return false;
  const middles = numbers.map(median);
  return kinds.every(({ measured }) => measured) && Math.max(...middles) <= ruleLimit("largest ratio of middle values of alike columns") * Math.max(Math.min(...middles), 1e-300);
}

function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((one, two) => one - two);
  const half = sorted.length >> 1;
  return sorted.length % 2 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2;
}

function numbersOf(kinds: TextKinds, delimiter: string): number[] {
  const sign = decimalSign(kinds, delimiter) || ".";
  return [...kinds.numbers.values()].map((number) => plainNumber(number, sign)).filter((text) => matches("number", text)).map(Number).filter(Number.isFinite);
}

/** Write one row for each cell of some columns. */
function rowsOf(sheet: Laid, places: readonly number[], factor: string, outcome: string): Laid {
  const labels = [...sheet.names.keys()].filter((place) => !places.includes(place));
  const [before, after] = [labels.filter((place) => place < places[0]!), labels.filter((place) => place > places[0]!)];
  const at = (row: readonly string[], some: readonly number[]): string[] => some.map((place) => row[place]!);
  const names = [...at(sheet.names, before), factor, outcome, ...at(sheet.names, after)];
  if (distinct(names).length < names.length) throw new TableError(`--wide ${factor}=${outcome}: there is a column of that name; choose another`);
  const [rows, lines]: [string[][], number[]] = [[], []];
  sheet.rows.forEach((row, index) => {
    // What was never measured has no row.
    for (const place of places.filter((one) => row[one])) {
      rows.push([...at(row, before), sheet.names[place]!, row[place]!, ...at(row, after)]);
      lines.push(sheet.lines[index]!);
    }
  });
  return {
    ...sheet,
    names,
    rows,
    lines,
    above: names.map(() => ""),
    factors: [...at(sheet.names, before), factor],
    outcome,
    notes: [...sheet.notes, { kind: "wide", column: factor, values: [outcome, ...at(sheet.names, places)].slice(0, MOST_NAMED), count: places.length }],
  };
}

/** Join names over groups of columns with the names below them. */
function joined(sheet: Laid): Laid {
  if (!sheet.above.some(Boolean)) return sheet;
  const names = sheet.names.map((name, place) => {
    const above = sheet.above[place]!;
    return above && name && above !== name ? `${above} ${name}` : name || above;
  });
  const values = names.filter((name, place) => name !== sheet.names[place]);
  return { ...sheet, names, notes: [...sheet.notes, ...noted({ kind: "joined_header", values, count: values.length })], above: names.map(() => "") };
}
