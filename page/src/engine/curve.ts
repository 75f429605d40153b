/** Increasing curves: straight beyond their knots, with a slope that is linear between them. A curve is its height at
 * the first knot and its slope at every knot, together `bent`; it is increasing exactly if no slope is negative. */

import { cholesky, choleskySolve, dot } from "./dense.ts";
import type { Curve } from "./types.ts";

/** Slopes stay above this share of their mean, so that the curve can be read backwards. */
export const FLATTEST = 1e-4;

/** Points on a curve's pieces: height there is that of the left knot, and a share of the two slopes. */
export interface Pieces {
  readonly knots: Float64Array;
  /** Piece of each point. */
  readonly place: Int32Array;
  /** How much of the slopes at the piece's ends the height holds. */
  readonly left: Float64Array;
  readonly right: Float64Array;
  /** How far into its piece each point lies. */
  readonly share: Float64Array;
}

/** Return where points lie on a curve with the given knots. */
export function piecesOf(knots: Float64Array, x: Float64Array): Pieces {
  const count = knots.length;
  const place = new Int32Array(x.length);
  const [left, right, share] = [new Float64Array(x.length), new Float64Array(x.length), new Float64Array(x.length)];
  x.forEach((point, at) => {
    const inside = Math.min(Math.max(point, knots[0]!), knots[count - 1]!);
    const piece = pieceAt(knots, inside);
    const step = knots[piece + 1]! - knots[piece]!;
    const part = (inside - knots[piece]!) / step;
    const half = (part * part) / 2;
    const beyond = point - inside; // there the curve is straight
    place[at] = piece;
    share[at] = part;
    left[at] = step * (part - half) + Math.min(beyond, 0);
    right[at] = step * half + Math.max(beyond, 0);
  });
  return { knots, place, left, right, share };
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
export function heightsOf({ knots, place, left, right }: Pieces, bent: Float64Array): Float64Array {
  const heights = new Float64Array(knots.length);
  heights[0] = bent[0]!;
  for (let at = 1; at < knots.length; at++) {
    heights[at] = heights[at - 1]! + ((knots[at]! - knots[at - 1]!) * (bent[at]! + bent[at + 1]!)) / 2;
  }
  return Float64Array.from(
    place,
    (piece, at) => heights[piece]! + left[at]! * bent[piece + 1]! + right[at]! * bent[piece + 2]!,
  );
}

/** Return the slopes of the curve at the points. */
export function steepnessOf({ place, share }: Pieces, bent: Float64Array): Float64Array {
  return Float64Array.from(place, (piece, at) => bent[piece + 1]! + share[at]! * (bent[piece + 2]! - bent[piece + 1]!));
}

/** Sums over the points of each piece: of a value, and of it times what the height holds of the piece's two slopes. */
export interface PieceSums {
  readonly ones: Float64Array;
  readonly lefts: Float64Array;
  readonly rights: Float64Array;
}

/** Return empty sums for a curve with the given knots. */
export function noSums(knots: Float64Array): PieceSums {
  const pieces = knots.length - 1;
  return { ones: new Float64Array(pieces), lefts: new Float64Array(pieces), rights: new Float64Array(pieces) };
}

/** Add one point's value to the sums of its piece. */
export function addPoint(sums: PieceSums, { place, left, right }: Pieces, at: number, value: number): void {
  const piece = place[at]!;
  sums.ones[piece]! += value;
  sums.lefts[piece]! += value * left[at]!;
  sums.rights[piece]! += value * right[at]!;
}

/** Return the products of `bent`'s columns with the summed values, (K + 1,): heights of knots are trapezes of slopes. */
export function fromSums(knots: Float64Array, { ones, lefts, rights }: PieceSums): Float64Array {
  const found = new Float64Array(knots.length + 1);
  let above = 0; // the values of all later pieces, whose left knot lies above this piece
  for (let piece = ones.length - 1; piece >= 0; piece--) {
    const rise = (above * (knots[piece + 1]! - knots[piece]!)) / 2;
    found[piece + 1]! += lefts[piece]! + rise;
    found[piece + 2]! += rights[piece]! + rise;
    above += ones[piece]!;
  }
  found[0] = above;
  return found;
}

/** Return the products of `bent`'s columns with one value per point. */
export function productsOf(pieces: Pieces, values: Float64Array): Float64Array {
  const sums = noSums(pieces.knots);
  values.forEach((value, at) => addPoint(sums, pieces, at, value));
  return fromSums(pieces.knots, sums);
}

/** Return the normal matrix of `bent` for weighted points, (K + 1, K + 1): piece by piece, in what their points share. */
export function gramOf(pieces: Pieces, weights: Float64Array): Float64Array {
  const { knots } = pieces;
  const width = knots.length + 1;
  const own = [noSums(knots), noSums(knots), noSums(knots)] as const; // rows: one, left share, right share
  weights.forEach((weight, at) => {
    addPoint(own[0], pieces, at, weight);
    addPoint(own[1], pieces, at, weight * pieces.left[at]!);
    addPoint(own[2], pieces, at, weight * pieces.right[at]!);
  });
  const gram = new Float64Array(width * width);
  for (let piece = 0; piece < knots.length - 1; piece++) {
    const rows = own.map((sums) => fromSums(knots, onlyPiece(knots, sums, piece)));
    const knot = fromSums(knots, { ...noSums(knots), ones: unit(knots.length - 1, piece) });
    for (let j = 0; j < width; j++) {
      for (let i = 0; i < width; i++) if (knot[i] !== 0) gram[i * width + j]! += knot[i]! * rows[0]![j]!;
      gram[(piece + 1) * width + j]! += rows[1]![j]!;
      gram[(piece + 2) * width + j]! += rows[2]![j]!;
    }
  }
  return gram;
}

function unit(length: number, place: number): Float64Array {
  const found = new Float64Array(length);
  found[place] = 1;
  return found;
}

function onlyPiece(knots: Float64Array, sums: PieceSums, piece: number): PieceSums {
  const only = noSums(knots);
  only.ones[piece] = sums.ones[piece]!;
  only.lefts[piece] = sums.lefts[piece]!;
  only.rights[piece] = sums.rights[piece]!;
  return only;
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
  // Any set whose own minimum is positive will do as a start; without those below zero one is soon found.
  let start = all;
  let x: Float64Array = free;
  while (start.some((at) => x[at]! <= 0)) {
    start = start.filter((at) => x[at]! > 0);
    x = solveOn(gram, aim, start);
  }
  const positive = new Set<number>(start);
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
