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

/** Return the inverse of the matrix with a lower factor whose rows stand `stride` apart. */
export function choleskyInverse(lower: Float64Array, n: number, stride = n): Float64Array {
  const turned = new Float64Array(n * n); // row i: column i of the factor's inverse
  for (let i = 0; i < n; i++) {
    turned[i * n + i] = 1 / lower[i * stride + i]!;
    for (let k = i + 1; k < n; k++) {
      let sum = 0;
      for (let m = i, a = k * stride, b = i * n; m < k; m++) sum += lower[a + m]! * turned[b + m]!;
      turned[i * n + k] = -sum / lower[k * stride + k]!;
    }
  }
  const inverse = new Float64Array(n * n);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = 0;
      for (let k = i, a = i * n, b = j * n; k < n; k++) sum += turned[a + k]! * turned[b + k]!;
      inverse[i * n + j] = sum;
      inverse[j * n + i] = sum;
    }
  }
  return inverse;
}

/** Return the inverse of a normal matrix on as many independent columns as its rank, zero elsewhere, and the columns
 * that were left out. Columns are scaled to unit length and the largest pivot goes first. */
export function pivotedInverse(
  normal: Float64Array,
  n: number,
  rank: number,
): { inverse: Float64Array; dropped: number[] } {
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
  const small = choleskyInverse(lower, rank);
  const inverse = new Float64Array(n * n);
  for (let i = 0; i < rank; i++) {
    for (let j = 0; j < rank; j++) {
      const [row, column] = [pivots[i]!, pivots[j]!];
      inverse[row * n + column] = small[i * rank + j]! * scale[row]! * scale[column]!;
    }
  }
  return { inverse, dropped: Array.from(taken.keys()).filter((column) => !taken[column]) };
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
