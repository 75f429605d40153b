/** What a report says of one cell: verdict, value and range as Python computed them, and the certificate, found here. */

import { certificate } from "../engine/certificate.ts";
import { everyArrangement } from "../engine/product.ts";
import { type Certificate, type Identification, TooLarge } from "../engine/types.ts";
import { type Book, DETERMINED, UNSEEN_LEVEL, type Value } from "./data.ts";

export interface AccountTerm {
  readonly sign: string;
  /** Empty for one. */
  readonly weight: string;
  readonly cell: readonly string[];
  /** Empty where outcomes do not add or there are none. */
  readonly observed: string;
}

export interface Account {
  readonly cell: readonly string[];
  readonly code: number;
  readonly sentences: readonly string[];
  readonly value: Value | null;
  /** The measured mean of a seen cell; NaN elsewhere. */
  readonly measured: number;
  /** The certificate in a sentence; empty without one. */
  readonly lead: string;
  readonly terms: readonly AccountTerm[];
  /** What the sum gives and how it varies, or why there is none. */
  readonly sum: string;
}

/** Return the level names of an entry. */
export function names(book: Book, entry: number): string[] {
  return book.levels(entry).map((level, factor) => book.data.factors[factor]![1][level]!);
}

/** Return the account of an entry; `prove` false leaves the certificate for later, which may take seconds. */
export function accountOf(book: Book, entry: number, prove = true): Account {
  const code = book.codes[entry]!;
  const [, , meaning, action] = book.data.verdicts[code] ?? ["", "", "Such a combination cannot exist.", ""];
  const sentences = [meaning];
  if (code === UNSEEN_LEVEL && book.data.whole) {
    const open = unseenLevels(book, entry);
    if (open.length) sentences.push(`Never seen: ${open.join(", ")}.`);
  }
  if (code > DETERMINED && action) sentences.push(action);
  const at = book.data.whole && code === 0 ? book.seen.indexOf(entry) : -1;
  const later = { found: null, why: code === DETERMINED ? "Looking for its certificate …" : "" };
  const proof = code === DETERMINED && prove ? proofOf(book, entry) : later;
  return {
    cell: names(book, entry),
    code,
    sentences,
    value: book.value(entry),
    measured: at >= 0 ? (book.observed[at] ?? NaN) : NaN,
    lead: proof.found ? leadOf(book, proof.found) : "",
    terms: proof.found ? termsOf(book, proof.found) : [],
    sum: proof.found ? sumText(book, proof.found, book.value(entry)) : proof.why,
  };
}

/** Return the certificate of an entry: the one that the report writes out, or one from the seen cells and verdicts of the page. */
export function proofOf(book: Book, entry: number): { found: Certificate | null; why: string } {
  const shown = book.data.shown.find(([cell]) => cell === entry);
  if (shown) {
    const terms = shown[1].map(([cell, numerator, denominator]) => ({ cell, numerator, denominator }));
    return { found: { cell: entry, terms, path: [] }, why: "" };
  }
  if (!book.data.sums) return { found: null, why: "Its certificate is not in this file; audit.explain(cell) writes it out." };
  try {
    return { found: certificate(identified(book), entry), why: "" };
  } catch (error) {
    const what = error instanceof TooLarge ? "too long to look for in this page" : "not found in this page";
    return { found: null, why: `Its certificate was ${what}; audit.explain(cell) writes it out.` };
  }
}

const known = new WeakMap<Book, Identification>();

/** Python's verdicts in the shape the engine reads them. Cells that cannot exist are none: they count as not known. */
function identified(book: Book): Identification {
  const before = known.get(book);
  if (before) return before;
  const seen = new Uint8Array(book.codes.length);
  for (const cell of book.seen) seen[cell] = 1;
  const found: Identification = {
    model: book.model,
    seen: everyArrangement(book.model, seen),
    verdicts: book.codes,
    counts: [0, 0, 0, 0],
    rank: 0,
    deficit: 0,
    route: "exact",
  };
  known.set(book, found);
  return found;
}

function unseenLevels(book: Book, entry: number): string[] {
  const present = book.data.factors.map(() => new Set<number>());
  for (const cell of book.seen) book.levels(cell).forEach((level, factor) => present[factor]!.add(level));
  // A level of interchangeable factors was seen wherever it stood.
  for (const group of book.data.symmetric) {
    for (const factor of group) for (const other of group) for (const level of present[other]!) present[factor]!.add(level);
  }
  return book.levels(entry).flatMap((level, factor) => {
    const [name, levels] = book.data.factors[factor]!;
    return present[factor]!.has(level) ? [] : [`${name} ${levels[level]!}`];
  });
}

function termsOf(book: Book, proof: Certificate): AccountTerm[] {
  return proof.terms.map(({ cell, numerator, denominator }) => {
    const size = Math.abs(numerator);
    const observed = book.data.adds ? observedAt(book, cell) : NaN;
    return {
      sign: numerator < 0 ? "−" : "+",
      weight: denominator > 1 ? `${size}/${denominator}` : size > 1 ? `${size}` : "",
      cell: names(book, cell),
      observed: Number.isFinite(observed) ? tell(observed) : "",
    };
  });
}

/** The value and variance of a certificate's sum: outcomes weighted, and one over how often each was measured. */
export function sumOf(book: Book, proof: Certificate): { value: number; variance: number } {
  let [value, variance] = [0, 0];
  for (const { cell, numerator, denominator } of proof.terms) {
    const weight = numerator / denominator;
    value += weight * observedAt(book, cell);
    variance += weight ** 2 / (book.precision[book.seen.indexOf(cell)] ?? NaN);
  }
  return { value: book.data.adds ? value : NaN, variance };
}

function leadOf(book: Book, proof: Certificate): string {
  const plus = proof.terms.filter(({ numerator }) => numerator > 0).length;
  const minus = proof.terms.length - plus;
  const all = `${proof.terms.length} seen combinations`;
  const plain = `${plus} seen ${plus === 1 ? "combination" : "combinations"} minus ${minus} ${minus === 1 ? "other" : "others"}`;
  const ones = minus > 0 && proof.terms.every(({ numerator, denominator }) => Math.abs(numerator) === denominator);
  return `Its certificate: if ${book.data.assumption}, it is ${ones ? plain : `a weighted sum of ${all}`}, whatever the effects are.`;
}

function sumText(book: Book, proof: Certificate, predicted: Value | null): string {
  const { value, variance } = sumOf(book, proof);
  const scale = book.data.curved ? ", of effects on the scale on which they add," : "";
  const gives = Number.isFinite(value) ? ` gives ${tell(value)}, with` : " has";
  const outside = predicted !== null && (value < predicted.low || value > predicted.high);
  const remark = outside ? " That is outside the range, which rests on all seen combinations: a sum of few carries their noise and departures in full." : "";
  return `This sum${scale}${gives} variance ${tell(variance, 3)} in units of one measurement's.${remark} It is one of those that prove the value to be determined; as measurements vary, others give somewhat other values, and the predicted one weighs all seen combinations.`;
}

function observedAt(book: Book, cell: number): number {
  return book.observed[book.seen.indexOf(cell)] ?? NaN;
}

/** Write a number with so many significant digits, without an exponent where it can be read without. */
export function tell(value: number, digits = 5): string {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e9)) return value.toExponential(2).replace("-", "−");
  return Number(value.toPrecision(digits)).toLocaleString("en", { maximumFractionDigits: 12, useGrouping: size >= 1e4 }).replace("-", "−");
}

/** Write a value with as many digits as its standard error leaves a meaning: three of the error's. */
export function beside(value: number, error: number): string {
  if (!(error > 0 && error < Infinity)) return tell(value);
  const decimals = Math.max(2 - Math.floor(Math.log10(error)), 0);
  if (decimals >= 12) return tell(value);
  return value.toFixed(decimals).replace("-", "−");
}

/** Value, standard error and range in words. */
export function valueText({ value, measured, code }: Account, outcome: string | null, rests: readonly string[]): string {
  if (Number.isFinite(measured)) return `Measured: ${outcome ?? "outcome"} ${tell(measured)}.`;
  if (!value) return "";
  const parts: string[] = [];
  const { predicted, error, low, high, certified, leverage } = value;
  if (Number.isFinite(predicted)) parts.push(`Predicted from all seen combinations: ${outcome ?? "outcome"} ${beside(predicted, error)}`);
  if (Number.isFinite(error)) parts.push(`standard error ${beside(error, error)}`);
  if (Number.isFinite(low)) parts.push(`90 % range ${beside(low, error)} to ${beside(high, error)}`);
  if (Number.isFinite(certified)) parts.push(`certified ${beside(certified, error)}`);
  if (Number.isFinite(leverage)) parts.push(`${parts.length ? "l" : "L"}everage ${tell(leverage, 3)}: its variance in units of one measurement's`);
  const open = rests[code] ? `; ${rests[code]}` : "";
  return parts.length ? `${parts.join(", ")}${open}.` : "";
}
