/** Columns of numbers, written as plain numbers: without currency, percent signs and what stands between thousands. */

import type { Note } from "./grid.ts";
import { isWord, listed, matches } from "./rules.ts";
import { distinct } from "./texts.ts";
import { unitSpelling } from "./units.ts";
import { type Column, noteOn, type TextKinds, type Numeral } from "./values.ts";

const GAPS = /[ '\u2019\u00a0\u2009\u202f]/;

/** Return the decimal sign of a column of numbers, "" if no one fits all; `commas`: others of the sheet have decimal commas. */
export function decimalSign(kinds: TextKinds, delimiter: string, commas = false): "" | "." | "," {
  const digits = [...kinds.numbers.values()].map((number) => number.digits);
  const [point, comma] = (["point_number", "comma_number"] as const).map((name) => digits.every((text) => matches(name, text)));
  if (point) {
    const grouped = comma ? digits.filter((text) => /[,.]/.test(text)) : [];
    // Semicolons stand between fields where commas are decimal signs; decimals would seldom end with so many zeros.
    const thousands = delimiter === ";" && 2 * grouped.filter((text) => text.endsWith("0") && text.includes(".")).length > grouped.length;
    return grouped.length && (commas || thousands) ? "," : ".";
  }
  // Between commas, 1,2 in quotes is rather a list of two.
  const clear = !["", ","].includes(delimiter) || commas || digits.some((text) => matches("clear_decimals", text));
  return comma && clear ? "," : "";
}

/** Write a number with a decimal point and nothing else. */
export function plainNumber({ sign, digits: written }: Numeral, decimal: string): string {
  const digits = written.replace(new RegExp(GAPS, "g"), "");
  return sign.replace("+", "") + (decimal === "." ? digits.replaceAll(",", "") : digits.replaceAll(".", "").replaceAll(",", "."));
}

export type Read = readonly [texts: Map<string, string>, notes: Note[]];

/** Return what texts of a column of numbers are read as, of those read otherwise than written; a factor keeps its unit. */
export function readNumbers(column: Column, delimiter: string, sign: string, commas: boolean, keepUnit: boolean): Read {
  const { kinds, name } = column;
  const stays = (number: Numeral): boolean => number.plain && (sign === "." || !number.digits.includes("."));
  let texts = new Map([...kinds.numbers].filter(([, number]) => !stays(number)).map(([text, number]) => [text, plainNumber(number, sign)]));
  let notes = notesOf(column, sign, !commas && !["", ","].includes(delimiter));
  const spelling = unitSpelling([...kinds.units][0]!);
  if (keepUnit && spelling) {
    const levels = new Map([...texts].filter(([text]) => kinds.numbers.get(text)!.unit).map(([text, plain]) => [text, `${plain} ${spelling}`]));
    const values = distinct(levels.values());
    texts = values.length === levels.size ? new Map() : levels;
    notes = texts.size ? [{ kind: "unit_spelling", column: name, values }] : [];
  }
  const missing = new Set([...kinds.nothing].filter((text) => !listed("missing").includes(text)));
  if (missing.size) notes.push(noteOn(column, "nothing", missing));
  const far = sentinels(kinds);
  if (far.size) notes.push(noteOn(column, "sentinel", far));
  if (kinds.limits.size) notes.push(noteOn(column, "limit", kinds.limits, true));
  const changed = new Map([...texts].filter(([text, plain]) => text !== plain));
  for (const text of [...kinds.nothing, ...kinds.limits]) changed.set(text, "");
  return [changed, notes];
}

/** Numbers such as -9999 that are far from all others of a column, and may say that there is nothing. */
function sentinels({ counts, numbers }: TextKinds): Set<string> {
  const far = new Set([...counts.keys()].filter((text) => isWord("sentinels", text)));
  const sizes = (some: readonly string[]): number[] => some.map((text) => Math.abs(Number(text)));
  const others = sizes([...numbers.keys()].filter((text) => !far.has(text)));
  const plain = [...numbers.values()].every((number) => number.plain);
  return far.size && plain && others.length && others.every((size) => 10 * size < Math.min(...sizes([...far]))) ? far : new Set();
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
  const points = unclear && [...pointed].every((text) => matches("point_groups", column.kinds.numbers.get(text)!.digits));
  const ambiguous = unclear && sign === "." && [...grouped].every((text) => isAmbiguous(column.kinds.numbers.get(text)!.digits));
  const kinds = {
    [ambiguous ? "unclear_comma" : "thousands"]: grouped,
    unclear_point: points ? pointed : new Set<string>(),
    decimal_comma: those(({ digits }) => sign === "," && digits.includes(",")),
    marked: those((_, text) => matches("mark", text.at(-1)!)),
    negative: those((number, text) => number.sign === "-" && !text.includes("-")),
  };
  return [...notes.filter(({ values }) => values!.length), ...Object.entries(kinds).filter(([, of]) => of.size).map(([kind, of]) => noteOn(column, kind, of))];
}

const isAmbiguous = (digits: string): boolean => digits.split(",").length === 2 && matches("comma_groups", digits);
