/** What the texts of one column are: numbers in one of many ways of writing them, nothing, limits, or labels. */

import { MOST_NAMED, type Note } from "./grid.ts";
import { isWord, matched, matches, ruleLimit } from "./rules.ts";
import { counted, distinct, strip, sum } from "./texts.ts";
import { unitSpelling } from "./units.ts";

/** Units of numbers that are looked for behind other texts. */
const MOST_UNITS = 8;
const asMinus = (text = ""): string => text.replace(/[\u2212\u2013]/g, "-");

/** A number as it is written: its sign, digits with what stands between them, currency, unit (as spelled). */
export interface Numeral {
  readonly sign: string;
  readonly digits: string;
  readonly currency: string;
  readonly unit: string;
  readonly plain: boolean;
}

/** Take a text apart that writes a number in one of many ways; null where it does not. */
export function writtenNumber(text: string): Numeral | null {
  if (matches("number", text)) {
    const sign = /^[+-]/.exec(text)?.[0] ?? "";
    return { sign, digits: text.slice(sign.length), currency: "", unit: "", plain: true };
  }
  const match = [...text].length <= ruleLimit("letters of a number") ? matched("decorated", text) : null;
  if (!match || Boolean(match[1]) !== Boolean(match[7]) || !/[0-9]/.test(match[5]!)) return null;
  const [sign, inner] = [asMinus(match[2]), asMinus(match[4])];
  const digits = asMinus(match[5]).replace(/-+$/, "");
  const behind = /[0-9]-+$/.test(asMinus(match[5])) ? "-" : ""; // 1.50- is -1.50, and 12,- is 12
  if ((sign + inner + behind).length + +Boolean(match[1]) > 1) return null;
  let [currency, unit] = [match[3] ?? "", strip(match[6] ?? "")];
  if (matches("currency", unit)) [currency, unit] = [currency + unit, ""];
  if (matches("mark", unit)) unit = ""; // 0.41* points to a footnote
  return { sign: match[1] ? "-" : sign || inner || behind, digits, currency, unit, plain: false };
}

const isZero = ({ digits }: Numeral): boolean => /^[0.,]*$/.test(digits);

/** The distinct texts of a column by what they are, and how many cells hold each. */
export class TextKinds {
  readonly counts: ReadonlyMap<string, number>;
  readonly numbers = new Map<string, Numeral>();
  readonly nothing = new Set<string>();
  readonly limits = new Set<string>();
  readonly others = new Set<string>();
  readonly total: number;
  /** The units of all numbers but zeros without one, in one spelling; "? ..." for a text that is no known unit. */
  readonly units: ReadonlySet<string>;
  /** Whether numbers are as many as those of measurements, not of levels. */
  readonly measured: boolean;

  /** Sort the distinct texts of a column, whose cells have no blanks around them. */
  constructor(cells: Iterable<string>) {
    const counts = counted(cells);
    counts.delete("");
    this.counts = counts;
    this.total = sum(counts.values());
    for (const text of counts.keys()) {
      const number = writtenNumber(text);
      if (number) this.numbers.set(text, number);
    }
    const numbers = [...this.numbers.values()];
    const behind = distinct(numbers.map(({ unit }) => unit)).filter(Boolean).slice(0, MOST_UNITS);
    for (const text of counts.keys()) if (!this.numbers.has(text)) this.#kind(text, behind).add(text);
    this.measured = numbers.length > ruleLimit("distinct numbers of a measured column") || 3 * numbers.length >= 2 * this.cells(this.numbers.keys());
    const known = (unit: string): string => (["", "%"].includes(unit) || numbers.every((number) => number.unit === unit) ? unit : unitSpelling(unit) || `? ${unit}`);
    this.units = new Set(numbers.filter((number) => !behind.length || number.unit || !isZero(number)).map(({ unit }) => known(unit)));
  }

  #kind(text: string, units: readonly string[]): Set<string> {
    if ([...text].length > ruleLimit("letters of a number")) return this.others;
    // Without a unit of other cells behind it: n.d. mg is n.d.
    const unit = units.find((one) => text.endsWith(one) && text !== one);
    const word = unit ? strip(text.slice(0, -unit.length)) : text;
    return isWord("nothing", word) ? this.nothing : matches("limit", word) ? this.limits : this.others;
  }

  /** Whether every cell that says something writes a number, with one unit and one currency at most; an outcome is measured, however few its numbers. */
  areNumbers(outcome = false): boolean {
    const numbers = [...this.numbers.values()];
    const measured = this.measured || outcome;
    const marks = new Set(numbers.every(({ plain }) => plain) ? [""] : numbers.filter((number) => !isZero(number)).map(({ currency }) => currency));
    return (
      numbers.length > 0 &&
      !this.others.size &&
      this.cells(this.numbers.keys()) >= ruleLimit("share of numbers that makes a column of numbers") * this.total &&
      (measured || !this.limits.size) &&
      marks.size === 1 &&
      this.units.size === 1 &&
      (measured || [...this.units].every((unit) => ["", "%"].includes(unit) || unitSpelling(unit))) &&
      !numbers.some(({ digits }) => matches("padded", digits))
    );
  }

  /** Count the cells that hold one of some texts. */
  cells(texts: Iterable<string>): number {
    return sum([...texts].map((text) => this.counts.get(text) ?? 0));
  }
}

/** One column on its way: its name, cells without blanks around them, the lines they stand in. */
export interface Column {
  readonly name: string;
  readonly cells: readonly string[];
  readonly lines: readonly number[];
  readonly kinds: TextKinds;
}

/** Return a note on the cells of a column that hold one of some texts, in the order in which these come. */
export function noteOn({ name, cells, lines, kinds }: Column, kind: string, texts: ReadonlySet<string>, withLines = false): Note {
  const at = withLines ? lines.filter((_, place) => texts.has(cells[place]!)) : [];
  const values = [...kinds.counts.keys()].filter((text) => texts.has(text));
  return { kind, column: name, lines: at.slice(0, MOST_NAMED), values: values.slice(0, MOST_NAMED), count: kinds.cells(texts) };
}
