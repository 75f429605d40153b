/** Columns of numbers, written as plain numbers: without currency, percent signs and what stands between thousands. */

import type { Note } from "./grid.ts";
import { listed, matches, ruleLimit } from "./rules.ts";
import { distinct } from "./texts.ts";
import { unitSpelling } from "./units.ts";
import { type Column, noteOn, type TextKinds, type Numeral } from "./values.ts";

const GAPS = /[ '\u2019\u00a0\u2009\u202f]/;

/** Return the decimal sign of a column of numbers, "" if no one fits all; `known` is that of others of the sheet, where they tell. */
export function decimalSign(kinds: TextKinds, delimiter: string, known = ""): "" | "." | "," {
  // A workbook writes its own numbers with points, whatever its texts are.
  if (!delimiter && [...kinds.numbers.values()].every(({ plain }) => plain)) return ".";
  const digits = [...kinds.numbers.values()].map((number) => number.digits);
  const [point, comma] = (["point_number", "comma_number"] as const).map((name) => digits.every((text) => matches(name, text)));
  if (point) {
    const grouped = comma ? digits.filter((text) => /[,.]/.test(text)) : [];
    if (delimiter === ";" && known !== "." && grouped.some((text) => text.includes(","))) return ","; // semicolons stand between fields because commas are decimal signs
    // Semicolons stand between fields where commas are decimal signs; decimals would seldom end with so many zeros, and beside 1.278 the number 639 would be far from all others.
    const pointed = grouped.filter((text) => text.includes("."));
    const largest = (some: readonly string[]): number => some.reduce((most, text) => Math.max(most, +text), 0);
    const whole = largest(digits.filter((text) => !/[^0-9]/.test(text)));
    const thousands = delimiter === ";" && ((pointed.length && whole > 99 && whole < 1000 && largest(pointed) < whole) || 2 * pointed.filter((text) => text.endsWith("0")).length > pointed.length);
    return grouped.length && (known || (thousands && ",")) === "," ? "," : ".";
  }
  // Between commas, 1,2 in quotes is rather a list of two.
  const clear = !["", ","].includes(delimiter) || known === "," || digits.some((text) => matches("clear_decimals", text));
  return comma && clear ? "," : "";
}

/** Return the decimal sign that some column of numbers tells: "," for 1,5 and "." for 2.25, but none for 1.234. */
export function knownSign(columns: readonly TextKinds[], delimiter: string): string {
  const signs = columns.map((kinds) => {
    const sign = decimalSign(kinds, delimiter);
    return [...kinds.numbers.values()].every(({ digits }) => matches(sign === "," ? "point_number" : "comma_number", digits)) ? "" : sign;
  });
  return ([",", "."] as const).find((sign) => signs.includes(sign)) ?? "";
}

/** Write a number with a decimal point and nothing else. */
export function plainNumber({ sign, digits: written }: Numeral, decimal: string): string {
  const digits = written.replace(new RegExp(GAPS, "g"), "");
  return sign.replace("+", "") + (decimal === "." ? digits.replaceAll(",", "") : digits.replaceAll(".", "").replaceAll(",", "."));
}

export type Read = readonly [texts: Map<string, string>, notes: Note[]];

/** Return what texts of a column of numbers are read as, of those read otherwise than written; a factor keeps its unit. */
export function readNumbers(column: Column, delimiter: string, sign: string, known: string, keepUnit: boolean): Read {
  const { kinds, name } = column;
  const stays = (number: Numeral): boolean => number.plain && (sign === "." || !number.digits.includes("."));
  let texts = new Map([...kinds.numbers].filter(([, number]) => !stays(number)).map(([text, number]) => [text, plainNumber(number, sign)]));
  let notes = notesOf(column, sign, !known && !["", ","].includes(delimiter));
  const spelling = unitSpelling([...kinds.units][0]!);
  if (keepUnit && spelling) {
    const levels = new Map([...texts].filter(([text]) => kinds.numbers.get(text)!.unit).map(([text, plain]) => [text, `${plain} ${spelling}`]));
    const values = distinct(levels.values());
    texts = values.length === levels.size ? new Map() : levels;
    notes = texts.size ? [{ kind: "unit_spelling", column: name, values }] : [];
  }
  const missing = new Set([...kinds.nothing].filter((text) => !listed("missing").includes(text)));
  if (missing.size) notes.push(noteOn(column, "nothing", missing));
  const [far, gone] = codesOf(kinds, sign) as [Set<string>, Set<string>];
  for (const [kind, of] of Object.entries({ sentinel: far, code: gone, limit: kinds.limits })) if (of.size) notes.push(noteOn(column, kind, of, true));
  const changed = new Map([...texts].filter(([text, plain]) => text !== plain));
  for (const text of [...kinds.nothing, ...kinds.limits, ...gone]) changed.set(text, "");
  return [changed, notes];
}

/** Numbers such as -9999 that may say that there is nothing; and those that do: they repeat far from all others of a measured column. */
function codesOf(kinds: TextKinds, sign: string): Set<string>[] {
  const found = [new Set<string>(), new Set<string>()];
  const size = (text: string): number => +plainNumber(kinds.numbers.get(text)!, sign);
  const codes = [...kinds.numbers.keys()].filter((text) => matches("sentinel", text));
  const others = [...kinds.numbers.keys()].filter((text) => !codes.includes(text)).map(size).sort((one, other) => one - other);
  const [low, high] = [others[0]!, others.at(-1)!];
  const count = kinds.cells(codes);
  for (const text of codes) {
    const far = Math.max(low - size(text), size(text) - high) > ruleLimit("ranges between a code and the numbers") * (high - low);
    if (far || (size(text) < -9 && low >= 0)) found[+(far && kinds.measured && others.length > 2 && count > 1 && 2 * count < kinds.total)]!.add(text);
  }
  return found;
}

function notesOf(column: Column, sign: string, unclear: boolean): Note[] {
  const numbers = [...column.kinds.numbers];
  const marks = {
    percent: numbers.map(([, { unit }]) => (unit === "%" ? "%" : "")),
    currency: numbers.map(([, { currency }]) => currency),
    unit: numbers.map(([, { unit }]) => (unit === "%" ? "" : unit)),
  };
  const notes: Note[] = Object.entries(marks).map(([kind, used]) => ({ kind, column: column.name, values: distinct(used).filter(Boolean) }));
  const those = (fits: (number: Numeral, text: string) => boolean): Set<string> => new Set(numbers.filter(([text, number]) => fits(number, text)).map(([text]) => text));
  const between = sign === "." ? "," : ".";
  const grouped = those(({ digits }) => digits.includes(between) || GAPS.test(digits));
  const pointed = those(({ digits }) => sign === "." && digits.includes("."));
  // 1.234 and 1,234 may be decimals and thousands.
  const both = (texts: Iterable<string>): boolean => unclear && [...texts].every((text) => matches("one_group", column.kinds.numbers.get(text)!.digits));
  const kinds = {
    [sign === "." && both(grouped) ? "unclear_comma" : "thousands"]: grouped,
    unclear_point: both(pointed) ? pointed : new Set<string>(),
    decimal_comma: those(({ digits }) => sign === "," && digits.includes(",")),
    marked: those((_, text) => matches("mark", text.at(-1)!)),
    negative: those((number, text) => number.sign === "-" && !text.split(number.digits[0]!)[0]!.includes("-")),
  };
  return [...notes.filter(({ values }) => values!.length), ...Object.entries(kinds).filter(([, of]) => of.size).map(([kind, of]) => noteOn(column, kind, of))];
}
