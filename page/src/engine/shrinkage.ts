/** Least squares on terms with one shrinkage per order of conjunction, chosen by the data (evidence, fixed point). */

import { cholesky, choleskySolve, dot, inverseEntry, times, turnedInverse } from "./dense.ts";
import type { Terms } from "./terms.ts";

const ROUNDS = 30;
const SETTLED = 0.02;
/** Bounds of a shrinkage, as a share of the mean diagonal of the normal matrix. */
export const LEAST = 1e-9;
const MOST = 1e6;

/** Rows of terms with their outcomes and weights of mean one. */
export interface Observed {
  readonly terms: Terms;
  readonly order: number;
  readonly rows: readonly (readonly number[])[];
  readonly y: Float64Array;
  readonly weights: Float64Array;
}

export interface TermsFit {
  readonly effects: Float64Array;
  readonly ridge: Float64Array;
  readonly noise: number;
  readonly freedom: number;
}

/** Fit effects to outcomes, shrunk as the data say. */
export function fitTerms({ terms, order, rows, y, weights }: Observed): TermsFit {
  const n = terms.columns;
  const all = weights.reduce((sum, weight) => sum + weight, 0);
  const centre = dot(weights, y) / all;
  const gap = y.map((value) => value - centre);
  const means = new Float64Array(n);
  const right = new Float64Array(n);
  const gram = new Float64Array(n * n);
  rows.forEach((row, at) => {
    for (const one of row) {
      means[one]! += weights[at]! / all;
      right[one]! += weights[at]! * gap[at]!;
      for (const two of row) gram[one * n + two]! += weights[at]!;
    }
  });
  for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) gram[i * n + j]! -= all * means[i]! * means[j]!;
  const total = gap.reduce((sum, value, at) => sum + weights[at]! * value * value, 0);
  const scale = diagonalMean(gram, n) || 1;
  let ridge = new Float64Array(order).fill(1e-3 * scale);
  let found: TermsFit = { effects: new Float64Array(n), ridge, noise: 0, freedom: 1 };
  for (let round = 0; round < ROUNDS; round++) {
    const lower = gram.slice();
    for (let i = 0; i < n; i++) lower[i * n + i]! += ridge[terms.size[i]! - 1]! + LEAST * scale;
    if (!cholesky(lower, n)) throw new Error("the normal matrix of the terms is not positive definite");
    const effects = choleskySolve(lower, n, right);
    const kept = keptPerOrder(terms, ridge, turnedInverse(lower, n), n);
    const freedom = 1 + kept.reduce((sum, part) => sum + part, 0);
    const misfit = Math.max(total - 2 * dot(right, effects) + dot(effects, times(gram, n, effects)), 1e-15 * total);
    const noise = misfit / Math.max(y.length - freedom, 1);
    const old = ridge;
    ridge = nextRidge(effects, kept, noise, terms, scale);
    found = { effects, ridge, noise, freedom };
    if (ridge.every((value, at) => Math.abs(Math.log(value / old[at]!)) < SETTLED)) break;
  }
  return found;
}

/** Return the mean of a matrix's first `count` diagonal entries. */
export function diagonalMean(matrix: Float64Array, n: number, count = n): number {
  let sum = 0;
  for (let i = 0; i < count; i++) sum += matrix[i * n + i]!;
  return sum / count;
}

/** Return how many effects of each order the data determine: their number less ridge times trace of the inverse. */
export function keptPerOrder(terms: Terms, ridge: Float64Array, turned: Float64Array, n: number): Float64Array {
  const kept = new Float64Array(ridge.length);
  for (let i = 0; i < terms.columns; i++) {
    const order = terms.size[i]! - 1;
    kept[order]! += 1 - ridge[order]! * inverseEntry(turned, n, i, i);
  }
  return kept.map((value) => Math.max(value, 1e-9));
}

/** Return the shrinkage of each order at the next round of the fixed point. */
export function nextRidge(
  effects: Float64Array,
  kept: Float64Array,
  noise: number,
  terms: Terms,
  scale: number,
): Float64Array<ArrayBuffer> {
  const power = new Float64Array(kept.length);
  for (let i = 0; i < terms.columns; i++) power[terms.size[i]! - 1]! += effects[i]! ** 2;
  return Float64Array.from(kept, (part, order) =>
    Math.min(Math.max(power[order]! > 0 ? (noise * part) / power[order]! : Infinity, LEAST * scale), MOST * scale),
  );
}
