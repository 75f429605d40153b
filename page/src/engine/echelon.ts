/** Dense rows in echelon form modulo a prime under 2^26, one row added at a time. */

import { type Draws, invert, multiply, residue } from "./residues.ts";

/** Rows reduced so far. Entries are residues up to a multiple of the prime, at most the prime in size: what is looked at
 * is brought into range first, what is only passed through is not. */
export class Echelon {
  readonly columns: number;
  readonly prime: number;
  /** Reduced rows with a leading one, in the order they came. */
  readonly rows: Float64Array[] = [];
  /** Leading column of each row. */
  readonly leads: number[] = [];
  /** Number of the row that leads in each column, -1 for none. */
  readonly leader: Int32Array;
  readonly #inverse: number;
  #work: Float64Array;

  constructor(columns: number, prime: number) {
    this.columns = columns;
    this.prime = prime;
    this.leader = new Int32Array(columns).fill(-1);
    this.#inverse = 1 / prime;
    this.#work = new Float64Array(columns);
  }

  get rank(): number {
    return this.rows.length;
  }

  /** Reduce a sparse row and keep what is left of it, divided by its leading entry, which is returned: 0 if nothing is
   * left. `met` is told which rows were subtracted and how often. */
  add(columns: ArrayLike<number>, values: ArrayLike<number>, met?: (row: number, times: number) => void): number {
    const { prime, leader, rows } = this;
    const work = this.#work;
    work.fill(0);
    let first = this.columns;
    for (let at = 0; at < columns.length; at++) {
      const column = columns[at]!;
      work[column] = work[column]! + values[at]!;
      if (column < first) first = column;
    }
    const lead = this.#reduce(work, first, met);
    if (lead < 0) return 0;
    const head = residue(work[lead]!, prime);
    const scale = invert(head, prime);
    for (let column = lead; column < this.columns; column++) {
      if (work[column] !== 0) work[column] = multiply(residue(work[column]!, prime), scale, prime);
    }
    leader[lead] = rows.length;
    this.leads.push(lead);
    rows.push(work);
    this.#work = new Float64Array(this.columns);
    return head;
  }

  /** Return which rows, how often, add up to a sparse row; null if none do. */
  express(columns: ArrayLike<number>, values: ArrayLike<number>): Map<number, number> | null {
    const work = this.#work;
    work.fill(0);
    for (let at = 0; at < columns.length; at++) work[columns[at]!]! += values[at]!;
    const met = new Map<number, number>();
    return this.#reduce(work, 0, (row, times) => met.set(row, times)) < 0 ? met : null;
  }

  /** Subtract the rows that lead where `work` has an entry; return the first column where none does, -1 if all is gone. */
  #reduce(work: Float64Array, from: number, met?: (row: number, times: number) => void): number {
    const { prime, leader, rows, columns } = this;
    const inverse = this.#inverse;
    let lead = -1;
    for (let column = from; column < columns; column++) {
      if (work[column] === 0) continue;
      const entry = residue(work[column]!, prime);
      if (entry === 0) {
        work[column] = 0;
        continue;
      }
      const number = leader[column]!;
      if (number < 0) {
        lead = column;
        break;
      }
      const row = rows[number]!;
      const times = prime - entry;
      // |work| <= p and times * row < p^2 < 2^52, so that the sum is exact; the quotient is off by one at most.
      for (let at = column; at < columns; at++) {
        const sum = work[at]! + times * row[at]!;
        work[at] = sum - Math.floor(sum * inverse) * prime;
      }
      work[column] = 0;
      met?.(number, entry);
    }
    return lead;
  }

  /** Return a uniformly random vector that every row is orthogonal to. */
  draw(draws: Draws): Float64Array {
    const { prime, leader, rows, columns } = this;
    const found = new Float64Array(columns);
    for (let column = columns - 1; column >= 0; column--) {
      const number = leader[column]!;
      if (number < 0) {
        found[column] = draws.next(prime);
        continue;
      }
      const row = rows[number]!;
      let sum = 0;
      for (let at = column + 1; at < columns; at++) {
        const entry = row[at]!;
        if (entry !== 0) sum = residue(sum + entry * found[at]!, prime);
      }
      found[column] = sum === 0 ? 0 : prime - sum;
    }
    return found;
  }
}
