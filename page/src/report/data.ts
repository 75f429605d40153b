/** The cells that a report carries along, decoded. Numbers are those that Python computed; nothing is fitted here. */

import { canonicalOf, cellOf, levelsOf, productOf } from "../engine/product.ts";
import type { Model } from "../engine/types.ts";

/** What Python wrote into the page; see embedded_cells.py. */
export interface Embedded {
  /** Name and levels of each factor. */
  readonly factors: readonly (readonly [string, readonly string[]])[];
  readonly symmetric: readonly (readonly number[])[];
  readonly order: number;
  readonly assumption: string;
  readonly curved: boolean;
  readonly outcome: string | null;
  /** Word, symbol, meaning and next action of each verdict, by code. */
  readonly verdicts: readonly (readonly [string, string, string, string])[];
  /** Whether entries are the places of the product, or the rows of a list. */
  readonly whole: boolean;
  /** Whether certificates can be looked for. */
  readonly sums: boolean;
  /** Certificates that the report writes out: the cell, and cell, numerator and denominator of each term. */
  readonly shown: readonly (readonly [number, readonly (readonly [number, number, number])[]])[];
  /** Pairs: a code, and how often it stands in a row. */
  readonly codes: readonly number[];
  readonly seen: readonly number[];
  readonly adds?: boolean;
  readonly precision?: string;
  readonly observed?: string;
  readonly levels?: readonly string[];
  readonly values: {
    readonly cells: readonly number[] | null;
    readonly predicted?: string;
    readonly error?: string;
    readonly low?: string;
    readonly high?: string;
    readonly certified?: string;
    readonly leverage?: string;
  };
  /** For each verdict what the value of such a cell rests on; empty where it follows. */
  readonly rests: readonly string[];
  readonly panels: readonly EmbeddedPanel[];
  readonly note: string;
}

export interface EmbeddedPanel {
  /** The factor down and the factor across. */
  readonly factors: readonly [number, number];
  /** Where each level of either stands. */
  readonly bins: readonly [readonly number[], readonly number[]];
  /** Names of the bins of either, where they hold several levels. */
  readonly labels: readonly [readonly string[] | null, readonly string[] | null];
  readonly shape: readonly [number, number];
  readonly triangle: boolean;
  /** Left, top, width and height in the drawings, as shares. */
  readonly wide: readonly [number, number, number, number];
  readonly narrow: readonly [number, number, number, number];
}

export const DETERMINED = 1;
export const UNSEEN_LEVEL = 3;
/** Code of a place that is no cell. */
export const NO_CELL = 6;

/** What is known of one cell's value; NaN where nothing is. */
export interface Value {
  readonly predicted: number;
  readonly error: number;
  readonly low: number;
  readonly high: number;
  readonly certified: number;
  readonly leverage: number;
}

/** The decoded cells. An entry is a place of the product or a row of the list; its verdict is codes[entry]. */
export interface Book {
  readonly data: Embedded;
  readonly model: Model;
  readonly codes: Uint8Array;
  /** Entries that are cells, ascending. */
  readonly entries: Int32Array;
  readonly seen: Int32Array;
  readonly precision: Float32Array;
  readonly observed: Float32Array;
  levels(entry: number): number[];
  value(entry: number): Value | null;
  /** Return the entry with these levels; -1 if there is none. */
  find(levels: readonly number[]): number;
}

export function open(data: Embedded): Book {
  const model: Model = {
    sizes: data.factors.map(([, levels]) => levels.length),
    order: data.order,
    symmetric: data.symmetric,
  };
  const codes = expand(data.codes);
  const columns = data.levels?.map((text) => new Uint16Array(bytes(text)));
  const levels = columns
    ? (entry: number) => columns.map((column) => column[entry]!)
    : (entry: number) => levelsOf(model.sizes, entry);
  const find = columns
    ? (wanted: readonly number[]) => codes.findIndex((_, entry) => columns.every((column, at) => column[entry] === wanted[at]))
    : (wanted: readonly number[]) => canonicalOf(model, cellOf(model.sizes, wanted));
  if (!columns && codes.length !== productOf(model.sizes)) throw new RangeError("the page's verdicts do not fit its factors");
  return {
    data,
    model,
    codes,
    entries: where(codes, (code) => code !== NO_CELL),
    seen: sums(data.seen),
    precision: floats(data.precision),
    observed: floats(data.observed),
    levels,
    value: valuesOf(data.values, codes),
    find,
  };
}

function valuesOf(values: Embedded["values"], codes: Uint8Array): (entry: number) => Value | null {
  const cells = values.cells ? sums(values.cells) : where(codes, (code) => code === DETERMINED);
  const place = new Map<number, number>();
  cells.forEach((cell, at) => place.set(cell, at));
  const [predicted, error, low, high] = [values.predicted, values.error, values.low, values.high].map(floats);
  const [certified, leverage] = [values.certified, values.leverage].map(floats);
  return (entry) => {
    const at = place.get(entry);
    if (at === undefined) return null;
    const of = (column: Float32Array | undefined): number => column?.[at] ?? NaN;
    // A range that is as long to either side is given by one end.
    const upper = values.high ? of(high) : 2 * of(predicted) - of(low);
    return { predicted: of(predicted), error: of(error), low: of(low), high: upper, certified: of(certified), leverage: of(leverage) };
  };
}

function expand(runs: readonly number[]): Uint8Array {
  let length = 0;
  for (let at = 1; at < runs.length; at += 2) length += runs[at]!;
  const codes = new Uint8Array(length);
  for (let at = 0, start = 0; at < runs.length; at += 2) {
    codes.fill(runs[at]!, start, start + runs[at + 1]!);
    start += runs[at + 1]!;
  }
  return codes;
}

function sums(steps: readonly number[]): Int32Array {
  let total = 0;
  return Int32Array.from(steps, (step) => (total += step));
}

function where(codes: Uint8Array, test: (code: number) => boolean): Int32Array {
  const found: number[] = [];
  codes.forEach((code, entry) => {
    if (test(code)) found.push(entry);
  });
  return Int32Array.from(found);
}

function bytes(text: string): ArrayBuffer {
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer;
}

function floats(text: string | undefined): Float32Array {
  return text ? new Float32Array(bytes(text)) : new Float32Array();
}
