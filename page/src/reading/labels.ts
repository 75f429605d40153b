/** Columns of labels: spellings of one unit, dates, and levels that sloppy typing made two of one. */

import { MOST_NAMED } from "./grid.ts";
import { plainNumber, type Read } from "./numerals.ts";
import { isWord, matched, matches, ruleLimit } from "./rules.ts";
import { casefold, distinct, groupedBy, hasDigit } from "./texts.ts";
import { baseAmount, unitSpelling } from "./units.ts";
import { type Column, noteOn } from "./values.ts";

/** Return what texts of a column of labels are read as, of those read otherwise than written. */
export function readLabels(column: Column, sloppy: boolean): Read {
  const { kinds, name } = column;
  const texts = [...kinds.counts.keys()];
  const nothing = new Set(texts.filter((text) => isWord("nothing_anywhere", text)));
  const gone = [...nothing].map((text) => [text, ""] as const);
  const notes = nothing.size ? [noteOn(column, "nothing", nothing)] : [];
  const [dated, dates] = datesOf(column);
  if (dated.size || dates.length) return [new Map([...gone, ...dated]), [...notes, ...dates]];
  const spelled = unitsOf(column);
  if (spelled.size) notes.push({ kind: "unit_spelling", column: name, values: distinct(spelled.values()).slice(0, MOST_NAMED) });
  const alike = sloppy ? alikeOf(column) : new Map<string, string>();
  if (alike.size) notes.push(noteOn(column, "alike", new Set([...alike.keys(), ...alike.values()])));
  const amounts = sameAmounts(distinct(texts.map((text) => spelled.get(text) ?? text)));
  if (amounts.length) notes.push({ kind: "same_amount", column: name, values: amounts });
  const totals = new Set(texts.filter((text) => isWord("total_levels", text)));
  if (totals.size === texts.length) totals.clear();
  for (const [kind, of] of [["misfit", misfits(column)], ["gene_date", geneDates(column)], ["mixed", mixed(column)], ["total_level", totals]] as const) if (of.size) notes.push(noteOn(column, kind, of, true));
  return [new Map([...gone, ...spelled, ...alike]), notes];
}

/** Levels in one spelling of their unit, where there is a level in two. */
function unitsOf({ kinds }: Column): Map<string, string> {
  const numbers = [...kinds.numbers].filter(([, number]) => unitSpelling(number.unit) && !number.currency && !number.digits.includes(","));
  const spelled = numbers.map(([text, number]) => [text, `${plainNumber(number, ".")} ${unitSpelling(number.unit)}`] as const);
  return new Map(distinct(spelled.map(([, to]) => to)).length < spelled.length ? spelled.filter(([text, to]) => text !== to) : []);
}

function sameAmounts(levels: readonly string[]): string[] {
  const amounts = groupedBy([...levels].filter(baseAmount).sort(), baseAmount);
  return [...amounts.values()].filter((same) => same.length > 1).flat().slice(0, MOST_NAMED);
}

/** The texts that are no numbers in a column of which most are. */
function misfits({ kinds }: Column): Set<string> {
  const rest = new Set([...kinds.others, ...kinds.limits]);
  const most = kinds.cells(kinds.numbers.keys()) >= ruleLimit("share of numbers that makes others misfits") * kinds.total;
  const bare = [...kinds.numbers.values()].every(({ unit }) => !unit || unit === "%");
  const mostly = 10 * kinds.cells(kinds.numbers.keys()) >= 9 * kinds.total && kinds.numbers.size > 4;
  return most && bare && (kinds.measured || mostly) && kinds.numbers.size > 2 * rest.size ? rest : new Set();
}

/** The numbers of a measured column that are not written in one way: 21,86 and 1.5; 3 mg and 20 ug. */
function mixed({ kinds }: Column): Set<string> {
  const numbers = [...kinds.numbers.values()];
  const most = kinds.cells(kinds.numbers.keys()) >= ruleLimit("share of numbers that makes others misfits") * kinds.total;
  const fit = numbers.every(({ digits }) => (matches("point_number", digits) || matches("comma_number", digits)) && !matches("padded", digits));
  return new Set(kinds.measured && !kinds.others.size && most && fit && !numbers.every(({ plain }) => plain) ? kinds.numbers.keys() : []);
}

/** Dates such as 31/12/2020 as year-month-day where one order fits all, or a note that two do. */
function datesOf(column: Column): Read {
  const { kinds, name } = column;
  const levels = [...kinds.counts.keys()].filter((text) => !kinds.nothing.has(text));
  const parts = levels.flatMap((text) => {
    const match = matched("slash_date", text);
    return match ? [{ text, numbers: [Number(match[1]), Number(match[3])], year: Number(match[4]) }] : [];
  });
  if (!parts.length || parts.length < levels.length) return [new Map(), []];
  const [first, second] = [0, 1].map((place) => parts.reduce((most, { numbers }) => Math.max(most, numbers[place]!), 0)) as [number, number];
  const texts = new Set(levels);
  if (first > 12 === second > 12) return [new Map(), first <= 12 ? [noteOn(column, "unclear_date", texts)] : []];
  const order = first > 12 ? [1, 0] : [0, 1];
  const dated = parts.map(({ text, numbers, year }) => [text, [year, ...order.map((place) => String(numbers[place]).padStart(2, "0"))].join("-")] as const);
  return [new Map(dated), [{ kind: "date", column: name, count: kinds.cells(texts) }]];
}

/** Dates in a column of which most texts look like names of genes, or are ranges such as 10-19. */
function geneDates({ kinds }: Column): Set<string> {
  const texts = [...kinds.counts.keys()];
  const shorter = (text: string, most: number): boolean => [...text].length < most;
  const names = texts.filter((text) => shorter(text, 20) && matches("gene_name", text));
  const genes = 2 * names.length >= texts.length && 4 * names.filter(hasDigit).length >= names.length;
  const ranges = texts.filter((text) => matches("range_name", text) && !/^\p{Nd}+$/u.test(text));
  return new Set(genes || 2 * ranges.length > texts.length ? texts.filter((text) => shorter(text, 30) && matches("gene_date", text)) : []);
}

/** Levels that differ by case from one that more cells hold, which is what they are read as. */
function alikeOf({ kinds: { counts } }: Column): Map<string, string> {
  const groups = groupedBy(counts.keys(), casefold);
  const shortToo = [...groups.values()].filter((texts) => texts.length > 1).length > 1 || [...groups.keys()].every((folded) => isWord("either_case", folded));
  const result = new Map<string, string>();
  for (const [folded, texts] of groups) {
    if (texts.length < 2 || !(shortToo || (folded.match(/\p{L}/gu) ?? []).length >= ruleLimit("letters whose case is folded")) || matches("genotype", folded)) continue;
    const most = texts.reduce((best, text) => (counts.get(text)! > counts.get(best)! ? text : best));
    for (const text of texts) if (text !== most) result.set(text, most);
  }
  return result;
}
