/** Which further cell lowers the variance of the values that follow most, by rank-one updates of the inverse. */

import { conjunctionsOf } from "./conjunctions.ts";
import { dot, pivotedInverse, times } from "./dense.ts";
import { cellsOf, identify } from "./identify.ts";
import { type NormalForm, normalForm, quadraticForm } from "./normal.ts";
import { mayCollect } from "./product.ts";
import type { Identification, Suggestion } from "./types.ts";

/** A cell that lowers the mean variance by less than this share is not worth proposing. */
const SMALLEST_GAIN = 5e-4;

/** Return up to `count` of the `determined` unseen cells, best first, and by what share all lower the mean variance. */
export function sharpen(
  found: Identification,
  picked: readonly number[],
  determined: Uint8Array,
  count: number,
  weights?: ArrayLike<number>,
): { more: Suggestion[]; lowered: number } {
  const { model } = found;
  const targets: number[] = [];
  determined.forEach((one, cell) => one && targets.push(cell));
  if (!targets.length) return { more: [], lowered: 0 };
  const before = cellsOf(model, found.seen);
  const measured = weights ? median(Array.from(before, (cell) => weights[cell]!)) : 1;
  const seen = Int32Array.from([...before, ...picked]);
  const counted = weights && Float64Array.from(seen, (cell, at) => (at < before.length ? weights[cell]! : measured));
  const form = normalForm(conjunctionsOf(model), seen, rankWith(found, picked), counted);
  const n = form.used.length;
  const moment = momentOf(form, targets);
  const inverse = pivotedInverse(form.factor, n);
  const state = { inverse, loss: sandwich(inverse, moment, n) };
  const candidates = targets.filter((cell) => mayCollect(model, cell));
  const more: Suggestion[] = [];
  let left = 1;
  for (let step = 0; step < count && candidates.length; step++) {
    let [best, most] = [-1, -Infinity];
    candidates.forEach((cell, at) => {
      const drop = quadraticForm(form, state.loss, cell) / (1 / measured + quadraticForm(form, state.inverse, cell));
      if (drop > most) [best, most] = [at, drop];
    });
    const gain = most / dot(state.inverse, moment);
    const [cell] = candidates.splice(best, 1) as [number];
    left *= 1 - gain;
    if (gain >= SMALLEST_GAIN) more.push({ cell, reason: "sharpen", gain, settles: [] });
    addCell(form, state, cell, 1 / measured);
  }
  return { more, lowered: 1 - left };
}

function rankWith(found: Identification, picked: readonly number[]): number {
  if (!picked.length) return found.rank;
  const seen = found.seen.slice();
  for (const cell of picked) seen[cell] = 1;
  return identify(found.model, seen).rank;
}

function median(values: number[]): number {
  const sorted = values.sort((one, two) => one - two);
  return sorted[(sorted.length - 1) >> 1]!; // the lower of two, so that it is a number of measurements
}

/** Mean of x x' over the targets' rows x, K x K. */
function momentOf(form: NormalForm, targets: readonly number[]): Float64Array {
  const { ids, width } = form.features;
  const n = form.used.length;
  const moment = new Float64Array(n * n);
  for (const cell of targets) {
    for (let one = cell * width; one < (cell + 1) * width; one++) {
      const line = form.place[ids[one]!]! * n;
      for (let two = cell * width; two < (cell + 1) * width; two++) moment[line + form.place[ids[two]!]!]! += 1 / targets.length;
    }
  }
  return moment;
}

/** Return inverse * moment * inverse. */
function sandwich(inverse: Float64Array, moment: Float64Array, n: number): Float64Array {
  const half = new Float64Array(n * n); // row i: moment times column i of the symmetric inverse
  for (let i = 0; i < n; i++) half.set(times(moment, n, inverse.subarray(i * n, (i + 1) * n)), i * n);
  const whole = new Float64Array(n * n);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = 0;
      for (let k = 0, a = i * n, b = j * n; k < n; k++) sum += half[a + k]! * inverse[b + k]!;
      whole[i * n + j] = whole[j * n + i] = sum;
    }
  }
  return whole;
}

/** Add one cell to the information and update the variance it leaves (Sherman-Morrison). */
function addCell(form: NormalForm, state: { inverse: Float64Array; loss: Float64Array }, cell: number, noise: number): void {
  const { ids, width } = form.features;
  const n = form.used.length;
  const row = new Float64Array(n);
  for (let at = cell * width; at < (cell + 1) * width; at++) row[form.place[ids[at]!]!]! += 1;
  const [u, v] = [times(state.inverse, n, row), times(state.loss, n, row)];
  const [s, q] = [noise + dot(row, u), dot(row, v)];
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < n; j++) {
      const at = i * n + j;
      state.inverse[at]! -= (u[i]! * u[j]!) / s;
      state.loss[at]! += u[i]! * u[j]! * (q / (s * s)) - (u[i]! * v[j]! + v[i]! * u[j]!) / s;
    }
  }
}
