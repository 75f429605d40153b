/** Wide networks on one-hot inputs, by their kernels: similarity of two cells depends on how many factors they share. */

import { binomial, type Conjunctions, conjunctionsOf } from "./conjunctions.ts";
import { cholesky, choleskySolve } from "./dense.ts";
import { everyArrangement } from "./product.ts";
import { type KernelName, type Mask, type Model, TooLarge } from "./types.ts";

/** Unknowns up to which a network's kernel is solved: about two seconds. */
export const MOST_UNKNOWNS = 1500;

/** Layer map of threshold units. */
const arcCosine0 = (x: number): number => (Math.PI - Math.acos(x)) / Math.PI;
/** Layer map of ReLU units. */
const arcCosine1 = (x: number): number => (Math.sqrt(1 - x * x) + (Math.PI - Math.acos(x)) * x) / Math.PI;
const cosineOf = (x: number): number => Math.min(Math.max(x, -1), 1);

/** Return the kernel of a wide ReLU network of `depth` hidden layers: values at cells that share 0, 1, ... factors. */
export function overlapKernel(name: KernelName, depth: number, factors: number): Float64Array {
  if (!Number.isInteger(depth) || depth < 1) throw new RangeError(`depth ${depth}: a network has one hidden layer or more`);
  let forward = Float64Array.from({ length: factors + 1 }, (_, shared) => shared / factors);
  let found = forward;
  for (let layer = 0; layer < depth; layer++) {
    const size = forward[factors]!;
    const cosine = forward.map((value) => cosineOf(value / size));
    const next = cosine.map((x) => size * arcCosine1(x));
    found = name === "ntk" ? found.map((value, shared) => value * arcCosine0(cosine[shared]!) + next[shared]!) : next;
    forward = next;
  }
  return found.map((value) => value / found[factors]!);
}

/** Return the weight of one conjunction of each order 0, ..., C, whose sum over shared ones is the kernel. */
export function kernelWeights(kernel: ArrayLike<number>): Float64Array {
  return Float64Array.from(kernel, (_, order) => {
    let total = 0;
    let bound = 0;
    for (let shared = 0; shared <= order; shared++) {
      const part = binomial(order, shared) * kernel[shared]!;
      total += (order - shared) % 2 ? -part : part;
      bound += Math.abs(part);
    }
    // An alternating sum leaves dust where the exact weight is zero, and dust would memorise.
    return Math.abs(total) <= 4 * Number.EPSILON * bound ? 0 : total;
  });
}

/** Return what a network with that kernel, trained on the seen cells to convergence, says at every cell. */
export function predictNetwork(
  model: Model,
  seen: Mask,
  outcome: ArrayLike<number>,
  kernel: ArrayLike<number>,
): Float64Array {
  const shown: number[] = [];
  everyArrangement(model, seen).forEach((one, cell) => one && shown.push(cell));
  const values = Float64Array.from(shown, (cell) => outcome[cell]!);
  if (!shown.length) return new Float64Array(seen.length).fill(NaN);
  const sizes = model.sizes;
  const weights = kernelWeights(kernel);
  const orders: Conjunctions[] = [];
  for (let order = 1; order < sizes.length; order++) orders.push(conjunctionsOf({ sizes, order }));
  const columns = numberColumns(orders, shown);
  const predictions =
    columns.count < shown.length
      ? solveColumns(orders, columns, shown, values, weights, seen.length)
      : solveCells(orders, columns, shown, values, weights, seen.length);
  // The network fits what it was shown: whole cells take up what their parts leave.
  shown.forEach((cell, row) => (predictions[cell] = values[row]!));
  return predictions;
}

interface Columns {
  /** How many columns some shown cell has. */
  readonly count: number;
  /** Number of each column of each order, -1 where no shown cell has it. */
  readonly place: readonly Int32Array[];
  /** Order of each column. */
  readonly order: Int32Array;
}

function numberColumns(orders: readonly Conjunctions[], shown: readonly number[]): Columns {
  let count = 0;
  const of: number[] = [];
  const place = orders.map(({ ids, width, columns }, at) => {
    const numbers = new Int32Array(columns).fill(-1);
    for (const cell of shown) {
      for (let entry = cell * width; entry < (cell + 1) * width; entry++) {
        if (numbers[ids[entry]!]! < 0) {
          numbers[ids[entry]!] = count++;
          of.push(at + 1);
        }
      }
    }
    return numbers;
  });
  return { count, place, order: Int32Array.from(of) };
}

/** Return the columns of every one of some cells, -1 where no shown cell has one: (cells, width) and the width. */
function rowsOf(orders: readonly Conjunctions[], columns: Columns, cells: ArrayLike<number>): [Int32Array, number] {
  const width = orders.reduce((total, features) => total + features.width, 0);
  const rows = new Int32Array(cells.length * width);
  for (let row = 0, to = 0; row < cells.length; row++) {
    orders.forEach(({ ids, width: own }, at) => {
      for (let entry = cells[row]! * own; entry < (cells[row]! + 1) * own; entry++) rows[to++] = columns.place[at]![ids[entry]!]!;
    });
  }
  return [rows, width];
}

/** Solve for the values of conjunctions, each shrunk by one over its weight; whole cells are the noise. */
function solveColumns(
  orders: readonly Conjunctions[],
  columns: Columns,
  shown: readonly number[],
  values: Float64Array,
  weights: Float64Array,
  cells: number,
): Float64Array {
  const n = columns.count;
  checkSize(n);
  const root = Float64Array.from(columns.order, (order) => Math.sqrt(Math.max(weights[order]!, 0)));
  const whole = weights[weights.length - 1]!;
  const [rows, width] = rowsOf(orders, columns, shown);
  const matrix = new Float64Array(n * n);
  const mean = new Float64Array(n);
  for (let from = 0; from < rows.length; from += width) {
    for (let one = from; one < from + width; one++) {
      mean[rows[one]!]! += 1 / shown.length;
      for (let two = from; two < from + width; two++) matrix[rows[one]! * n + rows[two]!]! += 1;
    }
  }
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < n; j++) {
      const centred = matrix[i * n + j]! - shown.length * mean[i]! * mean[j]!;
      matrix[i * n + j] = root[i]! * root[j]! * centred + (i === j ? whole : 0);
    }
  }
  if (!cholesky(matrix, n)) throw new Error("the kernel is singular in floating point; choose another depth");
  const centre = values.reduce((sum, value) => sum + value, 0) / values.length;
  const table = new Float64Array(n);
  for (let round = 0; round < 2; round++) {
    const right = new Float64Array(n);
    const shift = table.reduce((sum, value, at) => sum + value * mean[at]!, 0);
    for (let row = 0; row < shown.length; row++) {
      let gap = values[row]! - centre + shift;
      for (let at = row * width; at < (row + 1) * width; at++) gap -= table[rows[at]!]!;
      for (let at = row * width; at < (row + 1) * width; at++) right[rows[at]!]! += gap;
    }
    // The equations in scaled values u = table / root: (root Phi'Phi root + whole) u = root Phi' y.
    for (let at = 0; at < n; at++) right[at] = root[at]! ? root[at]! * right[at]! - (whole * table[at]!) / root[at]! : 0;
    choleskySolve(matrix, n, right).forEach((step, at) => (table[at]! += root[at]! * step));
  }
  const intercept = centre - table.reduce((sum, value, at) => sum + value * mean[at]!, 0);
  return expand(orders, columns, table, intercept, cells);
}

/** Solve for the weights of the shown cells: fewer than their conjunctions. */
function solveCells(
  orders: readonly Conjunctions[],
  columns: Columns,
  shown: readonly number[],
  values: Float64Array,
  weights: Float64Array,
  cells: number,
): Float64Array {
  const n = shown.length;
  checkSize(n);
  const [rows, width] = rowsOf(orders, columns, shown);
  const holders: number[][] = Array.from({ length: columns.count }, () => []);
  for (let row = 0; row < n; row++) for (let at = row * width; at < (row + 1) * width; at++) holders[rows[at]!]!.push(row);
  const matrix = new Float64Array(n * n);
  // The constant is left to the intercept: without it the matrix is better behaved, and the answer the same.
  for (let i = 0; i < n; i++) matrix[i * n + i] = weights[weights.length - 1]!;
  holders.forEach((some, column) => {
    const weight = weights[columns.order[column]!]!;
    for (const one of some) for (const two of some) matrix[one * n + two]! += weight;
  });
  const gram = matrix.slice();
  if (!cholesky(matrix, n)) throw new Error("the kernel is singular in floating point; choose another depth");
  const solve = (right: Float64Array): Float64Array => {
    const answer = choleskySolve(matrix, n, right);
    const gap = right.map((value, i) => {
      let sum = value;
      for (let k = 0; k < n; k++) sum -= gram[i * n + k]! * answer[k]!;
      return sum;
    });
    choleskySolve(matrix, n, gap).forEach((step, at) => (answer[at]! += step));
    return answer;
  };
  const [own, ones] = [solve(values), solve(new Float64Array(n).fill(1))];
  const total = (vector: Float64Array): number => vector.reduce((sum, value) => sum + value, 0);
  const intercept = total(own) / total(ones);
  const table = new Float64Array(columns.count);
  holders.forEach((some, column) => {
    let sum = 0;
    for (const row of some) sum += own[row]! - intercept * ones[row]!;
    table[column] = weights[columns.order[column]!]! * sum;
  });
  return expand(orders, columns, table, intercept, cells);
}

function expand(
  orders: readonly Conjunctions[],
  columns: Columns,
  table: Float64Array,
  intercept: number,
  cells: number,
): Float64Array {
  const found = new Float64Array(cells).fill(intercept);
  orders.forEach(({ ids, width }, at) => {
    const place = columns.place[at]!;
    for (let cell = 0, entry = 0; cell < cells; cell++) {
      for (const end = entry + width; entry < end; entry++) {
        const column = place[ids[entry]!]!;
        if (column >= 0) found[cell]! += table[column]!;
      }
    }
  });
  return found;
}

function checkSize(unknowns: number): void {
  if (unknowns > MOST_UNKNOWNS) {
    throw new TooLarge(`a network on ${unknowns} cells and conjunctions is too large for the page; use recombine audit`);
  }
}
