/** Increasing curves: straight beyond their knots, with a slope that is linear between them. A curve is its height at
 * the first knot and its slope at every knot, together `bent`; it is increasing exactly if no slope is negative. */

import { cholesky, choleskySolve, dot } from "./dense.ts";
import type { Curve } from "./types.ts";

/** Slopes stay above this share of their mean, so that the curve can be read backwards. */
export const FLATTEST = 1e-4;

/** Points on a curve: how height and slope there depend on `bent`. */
export interface Pieces {
  readonly knots: Float64Array;
  /** Row i: what the height at point i takes of `bent`, so that height is row times bent; (N, K + 1). */
  readonly rows: Float64Array;
  readonly place: Int32Array;
  /** How far into its piece each point lies. */
  readonly share: Float64Array;
}

/** Return where points lie on a curve with the given knots. */
export function piecesOf(knots: Float64Array, x: Float64Array): Pieces {
  const count = knots.length;
  const width = count + 1;
  const steps = Float64Array.from({ length: count - 1 }, (_, at) => knots[at + 1]! - knots[at]!);
  const rows = new Float64Array(x.length * width);
  const place = new Int32Array(x.length);
  const share = new Float64Array(x.length);
  x.forEach((point, at) => {
    const inside = Math.min(Math.max(point, knots[0]!), knots[count - 1]!);
    const piece = pieceAt(knots, inside);
    const part = (inside - knots[piece]!) / steps[piece]!;
    const beyond = point - inside; // there the curve is straight
    const from = at * width;
    rows[from] = 1;
    // Height of the left knot above the first: trapezes of the slopes in between.
    for (let knot = 0; knot < piece; knot++) {
      rows[from + 1 + knot]! += steps[knot]! / 2;
      rows[from + 2 + knot]! += steps[knot]! / 2;
    }
    const half = (part * part) / 2;
    rows[from + 1 + piece]! += steps[piece]! * (part - half) + Math.min(beyond, 0);
    rows[from + 2 + piece]! += steps[piece]! * half + Math.max(beyond, 0);
    place[at] = piece;
    share[at] = part;
  });
  return { knots, rows, place, share };
}

function pieceAt(knots: Float64Array, x: number): number {
  let [low, high] = [0, knots.length]; // the first knot beyond x
  while (low < high) {
    const middle = (low + high) >> 1;
    if (knots[middle]! <= x) low = middle + 1;
    else high = middle;
  }
  return Math.min(Math.max(low - 1, 0), knots.length - 2);
}

/** Return the heights of the points. */
export function heightsOf({ rows, place, knots }: Pieces, bent: Float64Array): Float64Array {
  const width = knots.length + 1;
  return Float64Array.from(place, (_, at) => dot(rows.subarray(at * width, (at + 1) * width), bent));
}

/** Return the slopes of the curve at the points. */
export function steepnessOf({ place, share }: Pieces, bent: Float64Array): Float64Array {
  return Float64Array.from(place, (piece, at) => bent[piece + 1]! + share[at]! * (bent[piece + 2]! - bent[piece + 1]!));
}

/** Return the normal matrix of `bent` for weighted points, (K + 1, K + 1). */
export function gramOf({ rows, knots }: Pieces, weights: Float64Array): Float64Array {
  const width = knots.length + 1;
  const gram = new Float64Array(width * width);
  weights.forEach((weight, at) => {
    const row = rows.subarray(at * width, (at + 1) * width);
    for (let i = 0; i < width; i++) {
      if (row[i] === 0) continue;
      const left = weight * row[i]!;
      for (let j = 0; j < width; j++) gram[i * width + j]! += left * row[j]!;
    }
  });
  return gram;
}

/** Return the products of `bent`'s columns with one value per point. */
export function productsOf({ rows, knots }: Pieces, values: Float64Array): Float64Array {
  const width = knots.length + 1;
  const found = new Float64Array(width);
  values.forEach((value, at) => {
    for (let i = 0; i < width; i++) found[i]! += value * rows[at * width + i]!;
  });
  return found;
}

/** Return the matrix of the integral of the squared second derivative, (K + 1, K + 1). */
export function roughness(knots: Float64Array): Float64Array {
  const width = knots.length + 1;
  const whole = new Float64Array(width * width);
  for (let at = 1; at < width - 1; at++) {
    const size = 1 / (knots[at]! - knots[at - 1]!);
    whole[at * width + at]! += size;
    whole[(at + 1) * width + at + 1]! += size;
    whole[at * width + at + 1]! -= size;
    whole[(at + 1) * width + at]! -= size;
  }
  return whole;
}

/** Return the `bent`, no slope negative, that minimizes c' gram c - 2 right' c. */
export function increasing(gram: Float64Array, right: Float64Array): Float64Array {
  const width = right.length;
  const n = width - 1;
  const head = gram[0]!; // the first height is free: eliminated, it leaves slopes alone
  const inner = new Float64Array(n * n);
  const aim = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    aim[i] = right[i + 1]! - (gram[i + 1]! * right[0]!) / head;
    for (let j = 0; j < n; j++) inner[i * n + j] = gram[(i + 1) * width + j + 1]! - (gram[i + 1]! * gram[j + 1]!) / head;
  }
  let size = 1e-300;
  for (let i = 0; i < n; i++) size = Math.max(size, inner[i * n + i]!);
  for (let i = 0; i < n; i++) inner[i * n + i]! += 1e-11 * size;
  let slopes = leastPositive(inner, aim);
  const mean = slopes.reduce((sum, slope) => sum + slope, 0) / n;
  slopes = slopes.map((slope) => Math.max(slope, FLATTEST * Math.max(mean, 0)));
  let start = right[0]!;
  for (let i = 0; i < n; i++) start -= gram[i + 1]! * slopes[i]!;
  return Float64Array.of(start / head, ...slopes);
}

/** Return the x >= 0 that minimizes x' G x - 2 aim' x (active sets; G is positive definite, so there is one). */
function leastPositive(gram: Float64Array, aim: Float64Array): Float64Array {
  const n = aim.length;
  const all = Array.from({ length: n }, (_, at) => at);
  const free = solveOn(gram, aim, all);
  if (free.every((value) => value >= 0)) return free;
  const x = new Float64Array(n);
  const positive = new Set<number>();
  const largest = Math.max(...aim.map(Math.abs), 1e-300);
  for (let step = 0; step < 50 * n; step++) {
    let [enter, most] = [-1, 1e-13 * largest];
    for (let i = 0; i < n; i++) {
      if (positive.has(i)) continue;
      const pull = aim[i]! - dot(gram.subarray(i * n, (i + 1) * n), x);
      if (pull > most) [enter, most] = [i, pull];
    }
    if (enter < 0) break;
    positive.add(enter);
    for (;;) {
      const chosen = [...positive].sort((one, two) => one - two);
      const next = solveOn(gram, aim, chosen);
      let [share, leave] = [1, -1];
      for (const i of chosen) {
        if (next[i]! > 0) continue;
        const part = x[i]! / (x[i]! - next[i]!);
        if (part < share || leave < 0) [share, leave] = [part, i];
      }
      for (const i of chosen) x[i]! += share * (next[i]! - x[i]!);
      if (leave < 0) break;
      positive.delete(leave);
      x[leave] = 0;
    }
  }
  return x;
}

/** Minimize over the chosen entries alone; the others are zero. */
function solveOn(gram: Float64Array, aim: Float64Array, chosen: readonly number[]): Float64Array {
  const n = aim.length;
  const many = chosen.length;
  const small = new Float64Array(many * many);
  chosen.forEach((row, i) => chosen.forEach((column, j) => (small[i * many + j] = gram[row * n + column]!)));
  if (!cholesky(small, many)) throw new Error("the curve's normal matrix is not positive definite");
  const found = new Float64Array(n);
  choleskySolve(small, many, chosen.map((at) => aim[at]!)).forEach((value, i) => (found[chosen[i]!] = value));
  return found;
}

/** Return the curve's heights at any points. */
export function curveAt({ knots, start, slopes }: Curve, x: Float64Array): Float64Array {
  return heightsOf(piecesOf(knots, x), Float64Array.of(start, ...slopes));
}
