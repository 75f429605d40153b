/** Small dense linear algebra on row-major arrays. Sums run along rows, where memory is read in order. */

/** Factor a positive definite matrix in place, lower triangle; say whether it is positive definite. */
export function cholesky(matrix: Float64Array, n: number): boolean {
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = matrix[i * n + j]!;
      for (let k = 0, a = i * n, b = j * n; k < j; k++) sum -= matrix[a + k]! * matrix[b + k]!;
      if (i !== j) matrix[i * n + j] = sum / matrix[j * n + j]!;
      else if (sum > 0) matrix[i * n + i] = Math.sqrt(sum);
      else return false;
    }
  }
  return true;
}

/** Solve with the factor from `cholesky`; the right-hand side is left alone. */
export function choleskySolve(lower: Float64Array, n: number, right: ArrayLike<number>): Float64Array {
  const found = Float64Array.from(right);
  for (let i = 0; i < n; i++) {
    let sum = found[i]!;
    for (let k = 0; k < i; k++) sum -= lower[i * n + k]! * found[k]!;
    found[i] = sum / lower[i * n + i]!;
  }
  for (let i = n - 1; i >= 0; i--) {
    const value = found[i]! / lower[i * n + i]!;
    found[i] = value;
    for (let k = 0; k < i; k++) found[k]! -= lower[i * n + k]! * value;
  }
  return found;
}

/** Return the inverse of a lower factor, turned: row i holds column i, from its diagonal on. */
export function turnedInverse(lower: Float64Array, n: number): Float64Array {
  const turned = new Float64Array(n * n);
  for (let i = 0; i < n; i++) {
    turned[i * n + i] = 1 / lower[i * n + i]!;
    for (let k = i + 1; k < n; k++) {
      let sum = 0;
      for (let m = i, a = k * n, b = i * n; m < k; m++) sum += lower[a + m]! * turned[b + m]!;
      turned[i * n + k] = -sum / lower[k * n + k]!;
    }
  }
  return turned;
}

/** Return one entry of the inverse of a matrix from its `turnedInverse`. */
export function inverseEntry(turned: Float64Array, n: number, i: number, j: number): number {
  let sum = 0;
  for (let k = Math.max(i, j), a = i * n, b = j * n; k < n; k++) sum += turned[a + k]! * turned[b + k]!;
  return sum;
}

/** A normal matrix factored on as many independent columns as its rank. */
export interface PivotedFactor {
  /** The columns in use, in the order of their pivots, and those left out. */
  readonly pivots: Int32Array;
  readonly dropped: readonly number[];
  /** Factor of the scaled matrix on the pivots, rank x rank, and the scale of each pivot. */
  readonly lower: Float64Array;
  readonly scale: Float64Array;
}

/** Factor a normal matrix of known rank: columns are scaled to unit length and the largest pivot goes first. */
export function pivotedFactor(normal: Float64Array, n: number, rank: number): PivotedFactor {
  const scale = new Float64Array(n);
  for (let i = 0; i < n; i++) scale[i] = 1 / Math.sqrt(normal[i * n + i]!);
  const left = new Float64Array(n).fill(1);
  const factor = new Float64Array(n * rank); // by column of the matrix; pivots come in their own order
  const pivots: number[] = [];
  const taken = new Uint8Array(n);
  for (let step = 0; step < rank; step++) {
    let pivot = -1;
    for (let i = 0; i < n; i++) if (!taken[i] && (pivot < 0 || left[i]! > left[pivot]!)) pivot = i;
    if (!(left[pivot]! > 1e-11)) throw new Error(`rank ${rank} is not seen in floating point; values would be unreliable`);
    taken[pivot] = 1;
    pivots.push(pivot);
    const head = Math.sqrt(left[pivot]!);
    factor[pivot * rank + step] = head;
    for (let i = 0; i < n; i++) {
      if (taken[i]) continue;
      let sum = normal[i * n + pivot]! * scale[i]! * scale[pivot]!;
      for (let k = 0, a = i * rank, b = pivot * rank; k < step; k++) sum -= factor[a + k]! * factor[b + k]!;
      const entry = sum / head;
      factor[i * rank + step] = entry;
      left[i]! -= entry * entry;
    }
  }
  const lower = new Float64Array(rank * rank);
  pivots.forEach((column, row) => lower.set(factor.subarray(column * rank, column * rank + row + 1), row * rank));
  return {
    pivots: Int32Array.from(pivots),
    dropped: Array.from(taken.keys()).filter((column) => !taken[column]),
    lower,
    scale: Float64Array.from(pivots, (column) => scale[column]!),
  };
}

/** Solve on the independent columns; the others are zero. */
export function pivotedSolve({ pivots, lower, scale }: PivotedFactor, right: ArrayLike<number>): Float64Array {
  const found = new Float64Array(right.length);
  const scaled = Float64Array.from(pivots, (column, at) => right[column]! * scale[at]!);
  choleskySolve(lower, pivots.length, scaled).forEach((value, at) => (found[pivots[at]!] = value * scale[at]!));
  return found;
}

/** Return the inverse on the independent columns, zero elsewhere, n x n. */
export function pivotedInverse({ pivots, lower, scale }: PivotedFactor, n: number): Float64Array {
  const rank = pivots.length;
  const turned = turnedInverse(lower, rank);
  const inverse = new Float64Array(n * n);
  for (let i = 0; i < rank; i++) {
    for (let j = 0; j <= i; j++) {
      const entry = inverseEntry(turned, rank, i, j) * scale[i]! * scale[j]!;
      inverse[pivots[i]! * n + pivots[j]!] = entry;
      inverse[pivots[j]! * n + pivots[i]!] = entry;
    }
  }
  return inverse;
}

/** Return matrix times vector, for a square matrix. */
export function times(matrix: Float64Array, n: number, vector: ArrayLike<number>): Float64Array {
  const found = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    let sum = 0;
    for (let k = 0, a = i * n; k < n; k++) sum += matrix[a + k]! * vector[k]!;
    found[i] = sum;
  }
  return found;
}

/** Return the inner product of two vectors. */
export function dot(one: ArrayLike<number>, two: ArrayLike<number>): number {
  let sum = 0;
  for (let at = 0; at < one.length; at++) sum += one[at]! * two[at]!;
  return sum;
}
