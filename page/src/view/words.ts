/** Sentences about cells, the same on the page and for those who hear it. */

import { type Certificate, certificateValue, levelsOf, type Suggestion, Verdict, type VerdictCode } from "../engine/index.ts";
import * as phrases from "../generated/phrases.json";
import { adding, assumed } from "../generated/vocabulary.json";
import { type Errors, type Following, rangeQuantile } from "./analysis.ts";
import { LOOKS, round, tell } from "./looks.ts";
import { type Scene, sizesOf } from "./scene.ts";

/** What is assumed at each order, and what says the values that follow then. */
export { adding as ADDING, assumed as ASSUMED } from "../generated/vocabulary.json";

/** A phrase with its holes filled; of a pair the first where the count is one. */
export function say(phrase: string | readonly string[], holes: Readonly<Record<string, string | number>> = {}): string {
  const text = typeof phrase === "string" ? phrase : phrase[+(holes.count !== 1)]!;
  return text.replace(/{(\w+)}/g, (_, name: string) => String(holes[name]));
}

export interface Term {
  /** "+", "−", or with a number before it. */
  readonly sign: string;
  readonly name: string;
  readonly value: string;
}

export interface Account {
  /** The cell's levels, such as "a 3, b 5". */
  readonly name: string;
  readonly verdict: VerdictCode;
  readonly sentence: string;
  readonly terms: readonly Term[];
  /** What the terms add up to; empty where some have no value. */
  readonly total: string;
  /** Whether other sums of seen cells give other values: what adding says is the balance of all of them. */
  readonly oneOfMany: boolean;
  /** Names and values of the numbers beside it. */
  readonly facts: readonly (readonly [string, string])[];
}

/** Return a cell's levels in words; short: without the names of the factors. */
export function nameOf(scene: Scene, cell: number, short = false): string {
  const levels = levelsOf(sizesOf(scene), cell);
  return levels.map((level, factor) => `${short ? "" : `${scene.factors[factor]!.name} `}${scene.factors[factor]!.levels[level]!}`).join(", ");
}

export function accountOf(
  scene: Scene,
  following: Following,
  predictions: Float64Array | null,
  variances: Float64Array | null,
  proof: Certificate | null,
  cell: number,
): Account {
  const verdict = following.found.verdicts[cell] as VerdictCode;
  const name = nameOf(scene, cell);
  const outcome = following.outcome;
  const known = Boolean(proof?.terms.every((term) => Number.isFinite(outcome[term.cell])));
  const terms = proof ? proof.terms.map((term, place) => termOf(scene, term, outcome, place === 0)) : [];
  const facts: [string, string][] = [];
  const single = proof && known ? certificateValue(proof, outcome) : NaN;
  const follows = verdict === Verdict.DETERMINED ? (following.fit?.values[cell] ?? NaN) : NaN;
  if (verdict === Verdict.SEEN) facts.push(["measured", tell(outcome[cell]!)]);
  if (Number.isFinite(follows)) facts.push([`${adding[scene.order]} says`, tell(follows)]);
  const range = Number.isFinite(follows) ? rangeOf(following, variances, cell) : "";
  if (range) facts.push(["90 % range", range]);
  if (verdict !== Verdict.SEEN && predictions) facts.push(["the network says", tell(predictions[cell]!)]);
  if (verdict !== Verdict.SEEN && Number.isFinite(following.truth[cell])) facts.push(["true value", tell(following.truth[cell]!)]);
  const variance = variances?.[cell] ?? NaN;
  if (verdict === Verdict.DETERMINED && Number.isFinite(variance)) facts.push(["leverage", tell(variance)]);
  return { name, verdict, sentence: sentenceOf(scene, following, verdict, proof, cell), terms, total: proof && known ? tell(single) : "", oneOfMany: proof !== null && known && Math.abs(single - follows) > 1e-6 * (1 + Math.abs(single)), facts };
}

/** The range in which nine of ten measurements of the cell should lie; empty where the seen cells do not give one. */
function rangeOf(following: Following, variances: Float64Array | null, cell: number): string {
  const either = rangeQuantile(following, variances) * Math.sqrt(1 + (variances?.[cell] ?? NaN));
  const value = following.fit?.values[cell] ?? NaN;
  if (!(either > 1e-9 * (1 + Math.abs(value)))) return "";
  const decimals = Math.max(0, Math.ceil(1 - Math.log10(either)));
  return `${round(value - either, decimals)} to ${round(value + either, decimals)}`;
}

function termOf(scene: Scene, term: Certificate["terms"][number], outcome: Float64Array, first: boolean): Term {
  const size = Math.abs(term.numerator);
  const times = term.denominator > 1 ? `${size}/${term.denominator} ` : size > 1 ? `${size} ` : "";
  const sign = term.numerator < 0 ? "−" : first ? "" : "+";
  const value = outcome[term.cell]!;
  return { sign: `${sign}${sign && times ? " " : ""}${times}`.trim(), name: nameOf(scene, term.cell, true), value: Number.isFinite(value) ? tell(value) : "" };
}

function sentenceOf(scene: Scene, following: Following, verdict: VerdictCode, proof: Certificate | null, cell: number): string {
  if (verdict === Verdict.SEEN) {
    return Number.isFinite(following.outcome[cell]) ? LOOKS[0]!.meaning : phrases.unmeasured;
  }
  if (verdict === Verdict.DETERMINED) {
    if (!proof) return phrases.unshown;
    const plus = proof.terms.filter((term) => term.numerator > 0).length;
    return say(phrases.sum, { assumption: assumed[scene.order]!, plus, minus: proof.terms.length - plus });
  }
  if (verdict === Verdict.UNSEEN_LEVEL) {
    const levels = levelsOf(sizesOf(scene), cell);
    const open = scene.factors.findIndex((_, factor) => !occurs(scene, following, factor, levels[factor]!));
    return open < 0 ? LOOKS[3]!.meaning : say(phrases.neverSeen, { level: `${scene.factors[open]!.name} ${scene.factors[open]!.levels[levels[open]!]}` });
  }
  return LOOKS[2]!.meaning;
}

function occurs(scene: Scene, following: Following, factor: number, level: number): boolean {
  const sizes = sizesOf(scene);
  return following.found.seen.some((one, cell) => one && levelsOf(sizes, cell)[factor] === level);
}

/** Return what to do next, when no cell is in focus. */
export function hintOf({ order }: Scene, { found: { counts } }: Following): string {
  const of = (phrase: readonly string[], verdict: VerdictCode): string => say(phrase, { count: counts[verdict]!, assumption: assumed[order]! });
  if (!counts[Verdict.SEEN]) return phrases.nothingSeen;
  if (counts[Verdict.DISCONNECTED]) return of(phrases.open, Verdict.DISCONNECTED);
  if (counts[Verdict.UNSEEN_LEVEL]) return of(phrases.openLevel, Verdict.UNSEEN_LEVEL);
  return counts[Verdict.DETERMINED] ? of(phrases.everythingFollows, Verdict.DETERMINED) : phrases.everythingSeen;
}

/** Return how many of an error's cells it is over, if not all. */
export function knownOf({ known, cells }: Errors): string {
  return known < cells ? `${known} of ${cells}` : "";
}

/** Terms of a sum that are read out. */
const MOST_SPOKEN = 8;

/** Return an account as one text. */
export function spoken(account: Account): string {
  const more = account.terms.length - MOST_SPOKEN;
  const sum = account.terms.slice(0, MOST_SPOKEN).map((term) => `${term.sign === "−" ? "minus" : term.sign === "+" ? "plus" : term.sign} ${term.name}${term.value ? ` (${term.value})` : ""}`.trim()).join(" ");
  const facts = account.facts.map(([name, value]) => `${name} ${value}`).join("; ");
  return [`${account.name}: ${LOOKS[account.verdict]!.word}.`, account.sentence, sum && `Its sum: ${sum}${more > 0 ? ` and ${more} more` : ""}${account.total && ` is ${account.total}`}.`, facts && `${facts}.`]
    .filter(Boolean)
    .join(" ");
}

export function suggestionText(scene: Scene, suggestion: Suggestion): string {
  const [cell, count] = [nameOf(scene, suggestion.cell), suggestion.settles.length];
  if (suggestion.reason === "sharpen") return say(phrases.sharpens, { cell, share: Math.round(100 * suggestion.gain) });
  return say(count ? phrases.settles : phrases.settlesItself, { cell, count });
}
