/** Least squares under the additive model: the normal matrix, leverages and fitted values. */

import { type Conjunctions, conjunctionsOf } from "./conjunctions.ts";
import { cholesky, choleskySolve, type PivotedFactor, pivotedFactor, pivotedInverse, pivotedSolve } from "./dense.ts";
import { cellsOf } from "./identify.ts";
import { type AdditiveFit, type Identification, TooLarge, Verdict } from "./types.ts";

/** Columns up to which the normal matrix is inverted: about a second. */
export const MOST_INVERTED = 1000;

/** The normal matrix of weighted cells over the columns they use. */
export interface NormalForm {
  readonly features: Conjunctions;
  /** Columns that some cell has, ascending, and the place of each column among them (-1 elsewhere). */
  readonly used: Int32Array;
  readonly place: Int32Array;
  /** Sums of weights over cells that hold both columns, K x K. */
  readonly normal: Float64Array;
  /** The same, factored on independent columns. */
  readonly factor: PivotedFactor;
}

/** Return the normal form of cells with a known rank; weights are one per cell of the list. */
export function normalForm(
  features: Conjunctions,
  cells: Int32Array,
  rank: number,
  weights?: ArrayLike<number>,
): NormalForm {
  const { ids, width, columns } = features;
  const place = new Int32Array(columns).fill(-1);
  for (const cell of cells) for (let at = cell * width; at < (cell + 1) * width; at++) place[ids[at]!] = 0;
  const used: number[] = [];
  for (let column = 0; column < columns; column++) {
    if (place[column] === 0) {
      place[column] = used.length;
      used.push(column);
    }
  }
  const n = used.length;
  if (n > MOST_INVERTED) {
    throw new TooLarge(`${n} conjunctions are too many to invert in the page; use recombine audit or a lower order`);
  }
  const normal = new Float64Array(n * n);
  for (let row = 0; row < cells.length; row++) {
    const weight = weights ? weights[row]! : 1;
    const from = cells[row]! * width;
    for (let one = from; one < from + width; one++) {
      const line = place[ids[one]!]! * n;
      for (let two = from; two < from + width; two++) normal[line + place[ids[two]!]!]! += weight;
    }
  }
  return { features, used: Int32Array.from(used), place, normal, factor: pivotedFactor(normal, n, rank) };
}

/** Return x' M x for the row x of a cell, whose columns must all be used. */
export function quadraticForm(form: NormalForm, matrix: Float64Array, cell: number): number {
  const { ids, width } = form.features;
  const n = form.used.length;
  let total = 0;
  for (let one = cell * width; one < (cell + 1) * width; one++) {
    const line = form.place[ids[one]!]! * n;
    for (let two = cell * width; two < (cell + 1) * width; two++) total += matrix[line + form.place[ids[two]!]!]!;
  }
  return total;
}

/** Return the leverage of every seen and determined cell, NaN elsewhere. */
export function leverages(found: Identification): Float64Array {
  const result = new Float64Array(found.seen.length).fill(NaN);
  const form = normalForm(conjunctionsOf(found.model), cellsOf(found.model, found.seen), found.rank);
  const inverse = pivotedInverse(form.factor, form.used.length);
  for (let cell = 0; cell < result.length; cell++) {
    if (found.verdicts[cell]! <= Verdict.DETERMINED) result[cell] = quadraticForm(form, inverse, cell);
  }
  return result;
}

/** Fit the additive model by least squares; `weights` holds one positive number per cell. */
export function fitAdditive(
  found: Identification,
  outcome: ArrayLike<number>,
  weights?: ArrayLike<number>,
): AdditiveFit {
  const features = conjunctionsOf(found.model);
  const cells = cellsOf(found.model, found.seen);
  const counted = weights && Float64Array.from(cells, (cell) => weights[cell]!);
  const form = normalForm(features, cells, found.rank, counted);
  const n = form.used.length;
  const values = Float64Array.from(cells, (cell) => outcome[cell]!);
  const solution = new Float64Array(n);
  for (let round = 0; round < 2; round++) {
    // The second round takes off the rounding of the first.
    const right = new Float64Array(n);
    cells.forEach((cell, row) => {
      const gap = (values[row]! - valueAt(form, solution, cell)) * (counted ? counted[row]! : 1);
      for (let at = cell * features.width; at < (cell + 1) * features.width; at++) right[form.place[features.ids[at]!]!]! += gap;
    });
    pivotedSolve(form.factor, right).forEach((step, at) => (solution[at]! += step));
  }
  shorten(form, solution);
  const table = new Float64Array(features.columns);
  form.used.forEach((column, at) => (table[column] = solution[at]!));
  const result = new Float64Array(found.seen.length).fill(NaN);
  for (let cell = 0; cell < result.length; cell++) {
    if (found.verdicts[cell]! <= Verdict.DETERMINED) result[cell] = valueAt(form, solution, cell);
  }
  return { values: result, table };
}

function valueAt(form: NormalForm, solution: Float64Array, cell: number): number {
  const { ids, width } = form.features;
  let sum = 0;
  for (let at = cell * width; at < (cell + 1) * width; at++) sum += solution[form.place[ids[at]!]!]!;
  return sum;
}

/** Take off what vanishes on every seen cell, so that the shortest solution is left. */
function shorten(form: NormalForm, solution: Float64Array): void {
  const n = form.used.length;
  const basis = form.factor.dropped.map((column) => {
    const vector = pivotedSolve(form.factor, form.normal.subarray(column * n, (column + 1) * n)).map((entry) => -entry);
    vector[column] = 1;
    return vector;
  });
  const many = basis.length;
  const gram = new Float64Array(many * many);
  for (let i = 0; i < many; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = 0;
      for (let k = 0; k < n; k++) sum += basis[i]![k]! * basis[j]![k]!;
      gram[i * many + j] = gram[j * many + i] = sum;
    }
  }
  if (!many || !cholesky(gram, many)) return;
  const along = basis.map((vector) => vector.reduce((sum, entry, at) => sum + entry * solution[at]!, 0));
  choleskySolve(gram, many, along).forEach((share, one) => {
    for (let at = 0; at < n; at++) solution[at]! -= share * basis[one]![at]!;
  });
}
