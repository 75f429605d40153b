/** Wide tables, whose columns are levels of one factor, and tables on their side, whose rows are variables. */

import { roles as RULES } from "../../../src/recombine/sheets/rules.json";
import { MOST_NAMED, TableError } from "./grid.ts";
import { columnOf, LAID, type Laid, noted } from "./layout.ts";
import { decimalSign, plainNumber } from "./numerals.ts";
import { isWord, matched, matches, ruleLimit } from "./rules.ts";
import { grouped, listing } from "./sentences.ts";
import { casefold, distinct, free, groupedBy, hasDigit } from "./texts.ts";
import { unitSpelling } from "./units.ts";
import { TextKinds, writtenNumber } from "./values.ts";

/** What a factor is called whose levels may be columns, where their names do not tell. */
export const UNNAMED_FACTOR = "factor";
const MEASURED = ["outcome", "covariate", "time", "status"] as const;

/** Exchange rows and columns where the first column holds the names of variables. */
export function turned(sheet: Laid): Laid {
  const rows = [sheet.names, ...sheet.rows];
  if (!liesOnItsSide(sheet, rows)) return sheet;
  const names = rows.map((row) => row[0]!);
  const columns = sheet.names.slice(1).map((_, place) => rows.map((row) => row[place + 1]!));
  return {
    ...LAID,
    names,
    rows: columns,
    lines: columns.map(() => sheet.lines[0]! - 1),
    above: names.map(() => ""),
    notes: [...sheet.notes, { kind: "transposed", values: names.slice(0, MOST_NAMED), count: names.length }],
  };
}

/** Whether each row is of one kind and columns are mixed, or the names of columns repeat as levels do: where that is no slip, rows of whole numbers stand beside rows of decimals. */
function liesOnItsSide(sheet: Laid, rows: readonly (readonly string[])[]): boolean {
  const names = rows.map((row) => row[0]!);
  if (rows.length < 2 || sheet.names.length < 4 || rows.length >= sheet.names.length || !names.every(Boolean) || distinct(names).length < names.length || sheet.above.some(Boolean)) return false;
  const kinds = rows.map((row) => new TextKinds(row.slice(1)));
  const oneKind = kinds.every(({ others, numbers }) => !others.size || !numbers.size);
  if (!oneKind || new TextKinds(names).numbers.size || !kinds.slice(1).some(({ numbers }) => numbers.size)) return false;
  const named = sheet.names.filter(Boolean);
  const decimals = kinds.slice(1).map(({ numbers }) => 2 * [...numbers.values()].filter(hasPoint).length >= numbers.size);
  return kinds.slice(1).some(({ others }) => others.size) || (distinct(named).length < named.length && distinct(decimals).length > 1);
}

/** Make rows of the columns that are levels of one factor, if there are such; `wide` says factor=outcome. */
export function melted(sheet: Laid, wide: string | null, delimiter: string): Laid {
  const ticked = withTicks(sheet);
  if (ticked) {
    const [factor, outcome] = wide === null ? ["column", "value"].map((name) => free(name, new Set(sheet.names))) : asked(wide);
    return rowsOf(ticked, sheet.names.map((_, place) => place).slice(1), factor!, outcome!);
  }
  const kept = withoutTotals(sheet);
  const kindsOf = (one: Laid): TextKinds[] => one.names.map((_, place) => new TextKinds(columnOf(one, place)));
  let kinds = kindsOf(kept);
  let places = valueColumns(kept, kinds, delimiter);
  if (wide !== null || places.length) sheet = kept;
  else if (kept !== sheet) places = valueColumns(sheet, (kinds = kindsOf(sheet)), delimiter);
  if (wide !== null) {
    const [factor, outcome] = asked(wide);
    const found = [places, wordColumns(sheet, kinds, delimiter)].find((some) => some.length) ?? endOf(kinds, 1);
    if (found.length < 2 || found.length === sheet.names.length) {
      throw new TableError(`--wide ${wide}: two columns of numbers beside one of labels are needed, not ${listing(sheet.names, 12)}; leave --wide out, or name the columns' roles`);
    }
    return rowsOf(sheet, found, factor, outcome);
  }
  if (!places.length) return joined(told(sheet, kinds, delimiter));
  const groups = distinct(places.map((place) => sheet.above[place]!)).filter(Boolean);
  const taken = new Set(sheet.names);
  const group = groups.length === 1 ? groups[0]! : "";
  const measured = repeated(sheet.names[places[0]!]!);
  const repeats = measured !== null && places.every((place) => repeated(sheet.names[place]!) === measured);
  const [factor, outcome] = repeats ? ["repeat", measured || group || "value"] : [group || "column", "value"];
  const long = rowsOf(sheet, places, free(factor, taken), free(outcome, taken), repeats);
  // A label that is the same in all rows is no factor: nobody named it as one.
  const varied = long.factors.filter((_, place) => distinct(columnOf(long, place)).length !== 1);
  return varied.length > 1 ? { ...long, factors: varied } : long;
}

/** What a column measured again, empty where its name does not say (OD rep 1, rep 1); null if it is a level. */
function repeated(name: string): string | null {
  const match = matched("repeat_name", name.slice(0, 40));
  return match && (match[1] ?? "").replace(/[ _.([-]+$/, "");
}

/** Write 1 and 0 for yes and no, where all columns beside labels that tell rows apart hold these; where nobody wrote no, an empty cell is one. */
function withTicks(sheet: Laid): Laid | null {
  const texts = new Set(sheet.rows.flatMap((row) => row.slice(1)));
  const folded = [...texts].map(casefold);
  const [yes, no] = (["yes_answers", "no_answers"] as const).map((list) => folded.some((text) => isWord(list, text)));
  if (sheet.names.length < 4 || sheet.rows.length < 2 || !yes || !(no || texts.has(""))) return null;
  if (folded.some((text) => text && !isWord("yes_answers", text) && !isWord("no_answers", text)) || !tellApart(sheet, 1)) return null;
  if (wordsOf(sheet.names[0]!).some((word) => isWord("naming_labels", word) || RULES.words.names.includes(word))) return null; // answers of people
  const numbers = new Map([...texts].map((cell) => [cell, isWord("yes_answers", casefold(cell)) ? "1" : cell || !no ? "0" : ""]));
  const told = [...texts].filter(Boolean).sort();
  const note = { kind: "ticks", values: told.slice(0, MOST_NAMED), count: told.length };
  return { ...sheet, rows: sheet.rows.map(([label, ...cells]) => [label!, ...cells.map((cell) => numbers.get(cell)!)]), notes: [...sheet.notes, note] };
}

/** Leave out columns that sum up others, by their names: they are no levels. */
function withoutTotals(sheet: Laid): Laid {
  const totals = sheet.names.filter((name) => isWord("totals", name));
  if (!totals.length) return sheet;
  const some = (row: readonly string[]): string[] => row.filter((_, place) => !isWord("totals", sheet.names[place]!));
  const note = { kind: "total_column", values: totals.slice(0, MOST_NAMED), count: totals.length };
  return { ...sheet, names: some(sheet.names), rows: sheet.rows.map(some), above: some(sheet.above), notes: [...sheet.notes, note] };
}

function asked(wide: string): [string, string] {
  const at = wide.indexOf("=");
  const [factor, outcome] = [wide.slice(0, Math.max(at, 0)).trim(), at < 0 ? "" : wide.slice(at + 1).trim()];
  if (!factor || !outcome || factor === outcome) throw new TableError(`--wide '${wide}' names no factor and outcome; write them as cell_line=viability`);
  return [factor, outcome];
}

const hasPoint = ({ digits }: { digits: string }): boolean => digits.includes(".");
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
  const groups = distinct(grouped.map((place) => sheet.above[place])).length;
  if (grouped.length > 1 && (groups === 1 || areCrossed(sheet, grouped))) return grouped;
  if (groups > 1) return [];
  const values = [...kinds.keys()].filter((place) => place && isValues(kinds[place]!));
  const repeats = values.filter((place) => repeated(sheet.names[place]!) !== null);
  if (distinct(repeats.map((place) => repeated(sheet.names[place]!)))[1] !== undefined) return [];
  const amounts = repeats[0] ? repeats : values.filter((place) => isAmount(sheet.names[place]!));
  // A control beside doses is one more of them.
  const levels = amounts.length > 1 ? [...kinds.keys()].filter((place) => amounts.includes(place) || (place && isWord("control_levels", sheet.names[place]!) && isValues(kinds[place]!))) : [];
  const others = [...kinds.keys()].filter((place) => !levels.includes(place) && !isRemarks(kinds[place]!, kinds[0]!));
  if (levels.length > 1 && others.at(-1)! < levels[0]! && areLabels(others.map((place) => kinds[place]!))) return levels;
  const places = wordColumns(sheet, kinds, delimiter);
  return namedAsLevels(sheet.names.slice(0, places[0] ?? 0), places.map((place) => sheet.names[place]!)) ? places : [];
}

/** Whether the same names, of nothing measured, stand below each group: a column is a level of two factors. */
function areCrossed(sheet: Laid, places: readonly number[]): boolean {
  const lists = [...groupedBy(places, (place) => sheet.above[place]!).values()].map((some) => some.map((place) => sheet.names[place]!).sort());
  return lists.length > 1 && distinct(lists.map((names) => JSON.stringify(names))).length === 1 && !areMeasured(lists[0]!);
}

/** Whether the first columns hold something in every row, and nothing twice. */
function tellApart({ rows }: Laid, count: number): boolean {
  const seen = new Set<string>();
  return rows.every((row) => {
    const cells = row.slice(0, count);
    const size = seen.size;
    return cells.every(Boolean) && seen.add(JSON.stringify(cells)).size > size;
  });
}

/** Whether a name is a number, alone, with a unit, or after a word that counts levels: 10 uM, day 3. */
function isAmount(name: string): boolean {
  const number = writtenNumber(name);
  if (number && (!number.unit || number.unit === "%" || unitSpelling(number.unit))) return matches("point_number", number.digits) || matches("comma_number", number.digits);
  if ([...name].length >= 40) return false;
  if (matches("range_name", name)) return true;
  return isItem(name) && isWord("level_stems", stemOf(name));
}

const isItem = (name: string): boolean => [...name].length < 40 && matches("item_name", name);
const stemOf = (name: string): string => matched("item_name", name)?.[1]!.replace(/^[ _.-]+|[ _.-]+$/g, "") ?? "";

/** Whether columns could be labels: no numbers with decimals, unless they are few. */
function areLabels(kinds: readonly TextKinds[]): boolean {
  const fine = kinds.filter(({ numbers }) => [...numbers.values()].some(hasPoint));
  return kinds.length > 0 && fine.every(({ numbers }) => numbers.size <= ruleLimit("levels of labels of a wide table, at most"));
}

/** Columns whose numbers are alike, beside labels that tell rows apart; of several measured variables only names tell them. */
function wordColumns(sheet: Laid, kinds: readonly TextKinds[], delimiter: string): number[] {
  const limit = ruleLimit("word-named columns of a wide table, at most");
  // Rows that are numbered are not labelled.
  if (sheet.rows.length < 2 || kinds.length >= 2 * limit || sheet.rows.every((row, index) => row[0] === String(index + 1))) return [];
  for (let labels = 1; labels < kinds.length - 1 && kinds[labels - 1]!.counts.size <= ruleLimit("levels of labels of a wide table, at most"); labels++) {
    if (!tellApart(sheet, labels)) continue;
    const places = endOf(kinds, labels);
    const remarks = kinds.slice(labels).filter((kind) => isRemarks(kind, kinds[0]!)).length;
    const complete = places.length > 1 && places.length <= limit && places.length + remarks + labels === kinds.length;
    if (complete && areAlike(places.map((place) => kinds[place]!), delimiter)) return places;
  }
  return [];
}

/** Whether names are words for levels (low, high; placebo), or written otherwise than the names of the labels. */
function namedAsLevels(labels: readonly string[], names: readonly string[]): boolean {
  const letters = names.some((name) => /^\p{Ll}$/u.test(name)); // y and n are rather an outcome and a count
  if (names.length && !letters && names.map(wordsOf).every((words) => words.length && words.every((word) => isWord("level_words", word)))) return true;
  const otherwise = labels.every((label) => /^\p{Ll}/u.test(label)) && names.every((name) => /^\p{Lu}/u.test(name));
  const codes = names.every((name) => name === name.toUpperCase()) && 2 * names.filter(hasDigit).length >= names.length && !labels.some(hasDigit);
  return (otherwise || codes) && !labels.some((label) => isWord("naming_labels", label)) && !areMeasured(names);
}

/** Whether a name is that of a measured variable, or all are items of one list: age, Sepal.Length; x1, x2. */
function areMeasured(names: readonly string[]): boolean {
  const stems = distinct(names.map((name) => casefold(stemOf(name))));
  return names.flatMap(wordsOf).some((word) => isWord("measured", word) || MEASURED.some((role) => RULES.words[role].includes(word))) || (names.every(isItem) && stems.length === 1 && !isWord("level_stems", stems[0]!));
}

const wordsOf = (name: string): string[] => casefold(name).match(/[\p{L}\p{N}]+/gu) ?? [];

/** Whether numbers of columns are of one size. */
function areAlike(kinds: readonly TextKinds[], delimiter: string): boolean {
  const repeated = kinds.some((kind) => 4 * kind.numbers.size < kind.cells(kind.numbers.keys()));
  const numbers = kinds.map((kind) => numbersOf(kind, delimiter).map(Math.abs));
  const middles = numbers.filter((column) => column.length).map(median);
  return middles.length > 0 && !repeated && Math.max(...middles) <= ruleLimit("largest ratio of middle values of alike columns") * Math.max(Math.min(...middles), 1e-300);
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

/** Refuse names of which two are the same. */
export function refuseTwice(names: readonly string[]): void {
  const twice = names.find((name, place) => names.indexOf(name) < place);
  if (twice !== undefined) throw new TableError(`two columns are named '${twice}'; give each its own name`);
}

/** Write one row for each cell of some columns; of repeats these are no levels of a factor. */
function rowsOf(sheet: Laid, places: readonly number[], factor: string, outcome: string, repeats = false): Laid {
  const labels = [...sheet.names.keys()].filter((place) => !places.includes(place));
  const [before, after] = [labels.filter((place) => place < places[0]!), labels.filter((place) => place > places[0]!)];
  const at = (row: readonly string[], some: readonly number[]): string[] => some.map((place) => row[place]!);
  const crossed = areCrossed(sheet, places);
  const factors = [...before.map((place) => sheet.names[place] || sheet.above[place]!), ...(crossed ? ["group"] : []), factor];
  const names = [...factors, outcome, ...at(sheet.names, after)];
  const levels = at(sheet.names, places);
  if (!crossed) refuseTwice(levels);
  if (distinct(names).length < names.length) throw new TableError(`--wide ${factor}=${outcome}: there is a column of that name; choose another`);
  if (sheet.rows.length * places.length * names.length > ruleLimit("cells of a melted table, at most")) throw new TableError(`${grouped(places.length)} columns as levels beside ${grouped(labels.length)} others are too many; leave some out`);
  const [rows, lines]: [string[][], number[]] = [[], []];
  sheet.rows.forEach((row, index) => {
    // What was never measured has no row.
    for (const place of places.filter((one) => row[one])) {
      rows.push([...at(row, before), ...(crossed ? [sheet.above[place]!] : []), sheet.names[place]!, row[place]!, ...at(row, after)]);
      lines.push(sheet.lines[index]!);
    }
  });
  return {
    ...sheet,
    names,
    rows,
    lines,
    above: names.map(() => ""),
    factors: repeats ? factors.slice(0, -1) : factors,
    outcome,
    notes: [...sheet.notes, { kind: repeats ? "repeats" : "wide", column: factor, values: [outcome, ...at(sheet.names, places)].slice(0, MOST_NAMED), count: places.length }],
  };
}

/** Note columns of numbers that may be levels after all: items of one list, or other names beside labels. */
function told(sheet: Laid, kinds: readonly TextKinds[], delimiter: string): Laid {
  let places = [...kinds.keys()].filter((place) => isItem(sheet.names[place]!) && isValues(kinds[place]!));
  let stems = distinct(places.map((place) => stemOf(sheet.names[place]!)));
  const others = kinds.filter((_, place) => !places.includes(place));
  if (places.length < 3 || stems.length > 1 || !areLabels(others)) {
    places = wordColumns(sheet, kinds, delimiter);
    stems = [UNNAMED_FACTOR];
    if (areMeasured(places.map((place) => sheet.names[place]!))) return sheet;
  }
  const names = places.map((place) => sheet.names[place]!);
  return { ...sheet, notes: [...sheet.notes, ...noted({ kind: "looks_wide", column: stems[0] || "item", values: names.slice(0, MOST_NAMED), count: names.length })] };
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
