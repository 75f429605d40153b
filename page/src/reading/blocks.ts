/** Rows that are no measurements: names over blocks of rows, and rows that sum up or average others. */

import { isBare, isBlank, type Row } from "./grid.ts";
import { isWord, matched, matches, ruleLimit } from "./rules.ts";
import { casefold, counted, distinct, groupedBy, range, sum } from "./texts.ts";

/** What the factor is called whose levels stand over blocks of rows, where they do not say it themselves. */
const UNNAMED_SECTIONS = "section";
/** Cells that are looked at to find rows that sum up others, at most. */
const MOST_SUMMED = 300_000;

/** Names over blocks of rows: what they are names of, and the rows they stand in. */
export interface Sections {
  readonly factor: string;
  readonly rows: readonly number[];
  readonly names: readonly string[];
}

/** The names that stand over blocks of rows, if all of them have one: rows with a single text; a header that stands again below each may have a name and a value above it. */
export function sectionsOf(rows: readonly Row[], top: number, first: number, last: number): Sections | null {
  const there = range(first, last).filter((index) => !isBlank(rows[index]!));
  const again = there.filter((index) => isSame(rows[index]!, rows[top]!));
  let named = there.filter((index) => rows[index]![0] && isBare(rows[index]!));
  if (again.length) {
    named = [top, ...again].map((index) => {
      while (index && isBlank(rows[--index]!));
      return index;
    });
    if (!top || named.some((index) => !rows[index]![0] || rows[index]!.filter(Boolean).length > 2)) return null;
  } else if (named[0] !== there[0]) return null;
  const apart = new Set([...named, ...again]);
  const body = there.filter((index) => !apart.has(index));
  const sizes = counted(placesOver(named, body));
  if (named.length < 2 || named.some((_, place) => (sizes.get(place) ?? 0) < 2) || body.some((index) => !rows[index]![0] || isBare(rows[index]!))) return null;
  const told = named.map((index) => toldBy(rows[index]!));
  const [factor, names] = [told[0]![0], new Set(told.map(([, name]) => name))];
  // Names that repeat, or that are rows' labels too, say something else.
  if (told.some(([of]) => of !== factor) || names.size < named.length || body.some((index) => names.has(rows[index]![0]!))) return null;
  return { factor: factor || UNNAMED_SECTIONS, rows: named, names: [...names] };
}

export const isSame = (row: Row, other: Row): boolean => row.every((cell, place) => cell === other[place]);

/** For each of some rows, which of those with names is the last above it. */
export function placesOver(named: readonly number[], rows: readonly number[]): number[] {
  let place = -1;
  return rows.map((row) => {
    while (named[place + 1]! < row) place++;
    return place;
  });
}

/** What a name over rows is a name of, "" where it does not say so, and the name. */
function toldBy([first = "", ...others]: Row): [string, string] {
  const [second, match] = [others.find(Boolean), matched("section", first)];
  if (second) return [first.replace(/[ :=]+$/, ""), second];
  return match ? [match[1]!, match[2]!] : ["", first];
}

/** Rows whose label says that they sum up or average others, and do; and by column other levels that are such sums, with so many digits that they are none by chance. */
export function rowsOfTotals(labels: readonly Row[], measured: readonly Row[]): { readonly sums: ReadonlySet<number>; readonly levels: readonly ReadonlySet<string>[] } {
  const [sums, levels] = [new Set<number>(), labels.map(() => new Set<string>())];
  const count = labels[0]?.length ?? 0;
  if (count * labels.length * (labels.length + measured.length) > MOST_SUMMED) return { sums, levels };
  labels.forEach((column, place) => {
    const others = column.map((_, row) => JSON.stringify(labels.map((cells, at) => at === place || cells[row])));
    for (const texts of measured) {
      const numbers = texts.map((text) => (/e/i.test(text) || !matches("number", text) ? NaN : Number(text)));
      const summing = summingOf(column, others, numbers, texts);
      for (const level of summing) if (!isTotal(level)) levels[place]!.add(level);
      if (closes(column, numbers, texts)) levels[place]!.add(column.at(-1)!);
      // Standard deviations beside means are no measurements either.
      if (summing.some(isTotal)) column.forEach((level, row) => (summing.includes(level) || isSummary(level)) && sums.add(row));
    }
  });
  if (sums.size === count) sums.clear(); // nothing else is there to sum up
  return { sums, levels };
}

/** Whether a level says that it sums up or averages others: Total, Mean, All products. */
export const isTotal = (level: string): boolean => isSummary(level) || isWord("all_levels", level) || casefold(level).startsWith("all ");
/** Whether a level is a word for a sum, a mean, a spread or the like. */
export const isSummary = (level: string): boolean => isWord("totals", level) || matches("total_label", level);

/** The levels that are in every group of rows the sum of its other rows, or their mean. */
function summingOf(column: Row, others: readonly string[], numbers: readonly number[], texts: Row): string[] {
  const there = [...column.keys()].filter((row) => !Number.isNaN(numbers[row]));
  const groups = new Map([...groupedBy(there, (row) => others[row]!)].map(([group, rows]) => [group, { size: rows.length - 1, total: sum(rows.map((row) => numbers[row]!)) }]));
  const step = stepOf(texts);
  const byLevel = [...groupedBy(there, (row) => column[row]!)].filter(([level, rows]) => {
    const beside = rows.map((row) => {
      const [{ size, total }, number] = [groups.get(others[row]!)!, numbers[row]!];
      return { size, number, rest: total - number, text: texts[row]! };
    });
    // Three levels at least, each once in a group.
    if (3 * rows.length > there.length || beside.some(({ size }) => size < 2) || distinct(rows.map((row) => others[row])).length < rows.length) return false;
    const summed = beside.every(({ number, rest, size }) => Math.abs(number - rest) < (step * (size + 1)) / 2);
    if (isTotal(level)) return summed || beside.every(({ number, rest, size, text }) => Math.abs(number - rest / size) < stepOf([text]) * 0.51);
    return summed && sum(rows.map((row) => digitsOf(texts[row]!))) >= ruleLimit("digits of sums that no label tells") && !matches("number", level);
  });
  return byLevel.map(([level]) => level);
}

/** Whether the last row, of a level that no other row has, is the sum of all above, by more than chance. */
function closes(column: Row, numbers: readonly number[], texts: Row): boolean {
  const [last, level] = [column.length - 1, column.at(-1)!];
  const near = Math.abs(numbers[last]! - sum(numbers.slice(0, -1))) < (stepOf(texts) * texts.length) / 2;
  return near && last > 2 && column.indexOf(level) === last && !matches("number", level) && digitsOf(texts[last]!) >= ruleLimit("digits of a sum in the last row");
}

/** One in the last decimal that any of some numbers has. */
const stepOf = (texts: Row): number => Number(`1e-${texts.reduce((most, text) => Math.max(most, text.split(".").slice(1).join(".").length), 0)}`);
const digitsOf = (text: string): number => text.replaceAll(".", "").replace(/^[-0]+|[-0]+$/g, "").length;
