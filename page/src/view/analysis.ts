/** Everything that follows from a scene. What the brush needs is worked out at every stroke; the rest when it pauses. */

import {
  type AdditiveFit,
  certificate,
  type Certificate,
  type ErrorParts,
  fitAdditive,
  identify,
  type Identification,
  leverages,
  overlapKernel,
  predictNetwork,
  readSlopes,
  suggest,
  type Suggestion,
  TooLarge,
  Verdict,
} from "../engine/index.ts";
import type { Scene } from "./scene.ts";
import { sizesOf } from "./scene.ts";
import { readTruth, type TruthTable } from "./truths.ts";

/** What follows from the seen cells, if effects add. */
export interface Following {
  readonly truth: Float64Array;
  readonly outcome: Float64Array;
  readonly found: Identification;
  /** The same for those seen cells that have a value: of a table, some may be painted that it does not hold. */
  readonly valued: Identification;
  /** Whether every seen cell has a value. */
  readonly complete: boolean;
  /** What adding says of every determined cell; null if it could not be worked out. */
  readonly fit: AdditiveFit | null;
  /** Mean of the measured values. */
  readonly mean: number;
  /** Smallest and largest value there is: the ends of the colours. */
  readonly limits: readonly [number, number];
}

/** What a network says. */
export interface Forecast {
  readonly predictions: Float64Array | null;
  readonly slopes: ErrorParts | null;
  /** Why there is no prediction. */
  readonly problem: string;
}

/** Root mean squared errors of the unseen cells of one verdict; NaN where there is nothing to compare. */
export interface Errors {
  readonly verdict: number;
  readonly cells: number;
  /** Those of them whose truth is known: the errors are over these. */
  readonly known: number;
  readonly adding: number;
  readonly network: number;
  readonly mean: number;
}

export function follow(scene: Scene, { truth, outcome }: TruthTable = readTruth(scene)): Following {
  const model = { sizes: sizesOf(scene), order: scene.order };
  const found = identify(model, scene.seen);
  const told = scene.seen.map((one, cell) => (one && Number.isFinite(outcome[cell]) ? 1 : 0));
  const complete = told.every((one, cell) => one === scene.seen[cell]);
  const valued = complete ? found : identify(model, told);
  const shown = told.reduce((sum, one) => sum + one, 0);
  const fit = shown ? attempt(() => fitAdditive(valued, outcome)) : null;
  let sum = 0;
  told.forEach((one, cell) => (sum += one ? outcome[cell]! : 0));
  return { truth, outcome, found, valued, complete, fit, mean: sum / shown, limits: limitsOf(truth) };
}

export function foresee(scene: Scene, following: Following): Forecast {
  const { valued, outcome } = following;
  if (!valued.seen.includes(1)) return { predictions: null, slopes: null, problem: "A network needs something seen." };
  try {
    const kernel = overlapKernel(scene.kernel, scene.depth, scene.factors.length);
    const predictions = predictNetwork(valued.model, valued.seen, outcome, kernel);
    // Slopes are told against what adding says: of a table the truth of unseen cells is unknown. They are slopes of
    // effects, so with interactions allowed they would leave most of what is determined out.
    const slopes = scene.order === 1 ? attempt(() => readSlopes(valued, outcome, predictions)) : null;
    return { predictions, slopes, problem: "" };
  } catch (error) {
    return { predictions: null, slopes: null, problem: error instanceof TooLarge ? error.message : `The network: ${String(error)}` };
  }
}

/** Return the errors on unseen cells whose truth is known, by verdict. */
export function errorsOf(following: Following, predictions: Float64Array | null): Errors[] {
  const { found, truth, fit, mean } = following;
  return [Verdict.DETERMINED, Verdict.DISCONNECTED, Verdict.UNSEEN_LEVEL].map((verdict) => {
    let known = 0;
    const sums = [0, 0, 0];
    found.verdicts.forEach((one, cell) => {
      const right = truth[cell]!;
      if (one !== verdict || !Number.isFinite(right)) return;
      known++;
      [fit?.values[cell] ?? NaN, predictions?.[cell] ?? NaN, mean].forEach((said, at) => (sums[at]! += (said - right) ** 2));
    });
    const [adding, network, constant] = sums.map((sum) => (known ? Math.sqrt(sum / known) : NaN));
    return { verdict, cells: found.counts[verdict], known, adding: adding!, network: network!, mean: constant! };
  });
}

/** Return the certificate of a determined cell; null where there is none or it cannot be written in whole numbers. */
export function proofOf(following: Following, cell: number): Certificate | null {
  return following.found.verdicts[cell] === Verdict.DETERMINED ? attempt(() => certificate(following.found, cell)) : null;
}

/** Return the variance of each determined value, in units of one measurement's. */
export function variancesOf(following: Following): Float64Array | null {
  return following.valued.seen.includes(1) ? attempt(() => leverages(following.valued)) : null;
}

/** Return the cells to collect next. */
export function nextCells(following: Following, count: number): Suggestion[] {
  return attempt(() => suggest(following.found, count)) ?? [];
}

/** What is too large for the page is left out of the picture, and said there; anything else is a defect and goes on. */
function attempt<T>(work: () => T): T | null {
  try {
    return work();
  } catch (error) {
    if (error instanceof TooLarge) return null;
    throw error;
  }
}

function limitsOf(values: Float64Array): [number, number] {
  let [least, most] = [Infinity, -Infinity];
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    if (value < least) least = value;
    if (value > most) most = value;
  }
  return least <= most ? [least, most] : [0, 1];
}

/** Seen cells, each predicted from the others, that a range rests on at least. */
const FEWEST_MISSES = 20;

/** Return the quantile by which 90 % ranges are drawn: of how far each seen cell is missed by the others, in units of its
 * standard error, as conformal prediction has it. A range is the value plus and minus this times the square root of one
 * plus the leverage. NaN where too few cells are determined by the others. */
export function rangeQuantile({ valued, outcome, fit }: Following, variances: Float64Array | null): number {
  if (!fit || !variances) return NaN;
  const scores: number[] = [];
  valued.seen.forEach((one, cell) => {
    // With residual e and leverage h, the others miss the cell by e / (1 - h), with a variance of 1 / (1 - h).
    const left = 1 - variances[cell]!;
    if (one && left > 1e-9) scores.push(Math.abs(outcome[cell]! - fit.values[cell]!) / Math.sqrt(left));
  });
  const rank = Math.ceil(0.9 * (scores.length + 1));
  return scores.length < FEWEST_MISSES ? NaN : scores.sort((one, two) => one - two)[rank - 1]!;
}
