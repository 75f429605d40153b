/** Null vectors of the seen cells modulo a prime: functions of the model's order that vanish on everything seen.
 *
 * A cell is determined if and only if every such function vanishes on it, and a random one tells that with a chance of
 * error of one in 67 million; two primes make it one in 4.5e15. Rows with a column of their own are set aside, the
 * largest block of columns is solved for by subtraction, and only what is left is eliminated. */

import type { Conjunctions } from "./conjunctions.ts";
import { Echelon } from "./echelon.ts";
import { Draws, PRIMES, residue } from "./residues.ts";
import { TooLarge } from "./types.ts";

/** Columns left for elimination that the page takes on: about four seconds. */
export const MOST_COLUMNS = 1500;

/** The seen rows, prepared once for both primes. */
interface Prepared {
  /** Whether some seen cell has a column. */
  readonly used: Uint8Array;
  /** Rows and columns solved without arithmetic, in the order of their removal. */
  readonly solvedRows: Int32Array;
  readonly solvedColumns: Int32Array;
  /** The other columns, and the place of each column among them (-1 elsewhere). */
  readonly rest: Int32Array;
  readonly place: Int32Array;
  /** The other rows: sparse, over the places of the rest. */
  readonly columnsOf: Int32Array[];
  readonly valuesOf: Int8Array[];
}

/** Null vectors on demand, and the rank of the seen cells. */
export interface NullSpace {
  readonly rank: number;
  /** The prime of the higher rank first; equal ranks leave their order. */
  readonly primes: readonly number[];
  /** Return a random null vector modulo a prime: one residue per column, random where no seen cell has the column. */
  draw(prime: number): Float64Array;
}

/** Return the null space of the seen rows `cells`, whose rank is known not to exceed `bound`. */
export function nullSpace(features: Conjunctions, cells: Int32Array, bound: number, exclusive: boolean): NullSpace {
  const ready = prepare(features, cells, exclusive);
  if (ready.rest.length > MOST_COLUMNS) {
    throw new TooLarge(
      `${ready.rest.length} conjunctions to eliminate are too many for the page; use recombine audit or a lower order`,
    );
  }
  const draws = new Draws(7);
  const solved = ready.solvedRows.length;
  const order = shuffled(ready.columnsOf.length, draws);
  const first = eliminate(ready, PRIMES[0], order, bound - solved, draws);
  // Rows that are independent modulo one prime are so in rational numbers: the second prime starts from them.
  const second = eliminate(ready, PRIMES[1], [...first.kept, ...order], bound - solved, draws, first.kept.length);
  const forms = [first.echelon, second.echelon].sort((one, two) => two.rank - one.rank);
  const rank = solved + forms[0]!.rank;
  // A prime that divides what it should not gives a lower rank; then the other one speaks alone.
  const primes = (forms[0]!.rank > forms[1]!.rank ? [forms[0]!, forms[0]!] : forms).map((form) => form.prime);
  return {
    rank,
    primes,
    draw: (prime) => complete(features, cells, ready, forms.find((form) => form.prime === prime)!, draws),
  };
}

function prepare(features: Conjunctions, cells: Int32Array, exclusive: boolean): Prepared {
  const { ids, width, columns } = features;
  const rows = cells.length;
  const used = new Uint8Array(columns);
  const degree = new Int32Array(columns);
  const holder = new Float64Array(columns); // a column's only remaining row is the sum of its rows' numbers
  for (let row = 0; row < rows; row++) {
    for (let at = cells[row]! * width, end = at + width; at < end; at++) {
      const column = ids[at]!;
      used[column] = 1;
      degree[column]!++;
      holder[column]! += row;
    }
  }
  const alive = new Uint8Array(rows).fill(1);
  const gone = new Uint8Array(columns);
  const solvedRows: number[] = [];
  const solvedColumns: number[] = [];
  const single: number[] = [];
  for (let column = 0; column < columns; column++) if (degree[column] === 1) single.push(column);
  while (single.length) {
    const column = single.pop()!;
    if (degree[column] !== 1) continue;
    const row = holder[column]!;
    alive[row] = 0;
    gone[column] = 1;
    solvedRows.push(row);
    solvedColumns.push(column);
    for (let at = cells[row]! * width, end = at + width; at < end; at++) {
      const other = ids[at]!;
      holder[other]! -= row;
      if (--degree[other]! === 1) single.push(other);
    }
  }
  const left: number[] = [];
  for (let row = 0; row < rows; row++) if (alive[row]) left.push(row);
  const heads = exclusive ? solveBlock(features, cells, left) : null;
  if (heads) {
    for (const [column, row] of heads.rows) {
      alive[row] = 0;
      gone[column] = 1;
      solvedRows.push(row);
      solvedColumns.push(column);
    }
  }
  const rest: number[] = [];
  const place = new Int32Array(columns).fill(-1);
  for (let column = 0; column < columns; column++) {
    if (degree[column]! > 0 && !gone[column]) {
      place[column] = rest.length;
      rest.push(column);
    }
  }
  const columnsOf: Int32Array[] = [];
  const valuesOf: Int8Array[] = [];
  for (const row of left) {
    if (!alive[row]) continue;
    const entries = new Map<number, number>();
    spread(entries, features, cells[row]!, place, 1);
    if (heads) spread(entries, features, cells[heads.rows.get(ids[cells[row]! * width + heads.block]!)!]!, place, -1);
    for (const [column, value] of entries) if (value === 0) entries.delete(column);
    if (!entries.size) continue;
    columnsOf.push(Int32Array.from(entries.keys()));
    valuesOf.push(Int8Array.from(entries.values()));
  }
  return {
    used,
    solvedRows: Int32Array.from(solvedRows),
    solvedColumns: Int32Array.from(solvedColumns),
    rest: Int32Array.from(rest),
    place,
    columnsOf,
    valuesOf,
  };
}

function spread(
  entries: Map<number, number>,
  features: Conjunctions,
  cell: number,
  place: Int32Array,
  sign: number,
): void {
  for (let at = cell * features.width, end = at + features.width; at < end; at++) {
    const column = place[features.ids[at]!]!;
    if (column >= 0) entries.set(column, (entries.get(column) ?? 0) + sign);
  }
}

/** Choose one row for each column of the block with the most of them: taken off the others, those columns are gone. */
function solveBlock(
  features: Conjunctions,
  cells: Int32Array,
  left: readonly number[],
): { block: number; rows: Map<number, number> } | null {
  let best: { block: number; rows: Map<number, number> } | null = null;
  for (let block = 0; block < features.width; block++) {
    const rows = new Map<number, number>();
    for (const row of left) {
      const column = features.ids[cells[row]! * features.width + block]!;
      if (!rows.has(column)) rows.set(column, row);
    }
    if (!best || rows.size > best.rows.size) best = { block, rows };
  }
  return best?.rows.size ? best : null;
}

/** Eliminate enough rows that the null space is that of all: some in the given order, then those a null vector rejects. */
function eliminate(
  ready: Prepared,
  prime: number,
  order: readonly number[],
  bound: number,
  draws: Draws,
  start = ready.rest.length + Math.floor(ready.rest.length / 3) + 16,
): { echelon: Echelon; kept: number[] } {
  const echelon = new Echelon(ready.rest.length, prime);
  const kept: number[] = [];
  const add = (row: number): void => {
    if (echelon.add(ready.columnsOf[row]!, ready.valuesOf[row]!)) kept.push(row);
  };
  for (let at = 0; at < Math.min(start, order.length) && echelon.rank < bound; at++) add(order[at]!);
  while (echelon.rank < bound) {
    const vector = echelon.draw(draws);
    const failed = order.filter((row) => !vanishes(ready.columnsOf[row]!, ready.valuesOf[row]!, vector, prime));
    if (!failed.length) break;
    for (const row of failed.slice(0, 32)) if (echelon.rank < bound) add(row);
  }
  return { echelon, kept };
}

function vanishes(columns: Int32Array, values: Int8Array, vector: Float64Array, prime: number): boolean {
  let sum = 0;
  for (let at = 0; at < columns.length; at++) sum += values[at]! * vector[columns[at]!]!;
  return residue(sum, prime) === 0;
}

/** Extend a null vector of what was eliminated to all columns: solved ones follow, last removed first. */
function complete(
  features: Conjunctions,
  cells: Int32Array,
  ready: Prepared,
  echelon: Echelon,
  draws: Draws,
): Float64Array {
  const { ids, width, columns } = features;
  const { prime } = echelon;
  const core = echelon.draw(draws);
  const table = new Float64Array(columns);
  for (let column = 0; column < columns; column++) if (!ready.used[column]) table[column] = draws.next(prime);
  ready.rest.forEach((column, at) => (table[column] = core[at]!));
  // A used column that is neither solved nor left over stands in solved rows alone and is free.
  const known = new Uint8Array(columns);
  for (const column of ready.rest) known[column] = 1;
  for (const column of ready.solvedColumns) known[column] = 1;
  for (let column = 0; column < columns; column++) {
    if (ready.used[column] && !known[column]) table[column] = draws.next(prime);
  }
  for (let step = ready.solvedRows.length - 1; step >= 0; step--) {
    const own = ready.solvedColumns[step]!;
    table[own] = 0;
    let sum = 0;
    for (let at = cells[ready.solvedRows[step]!]! * width, end = at + width; at < end; at++) sum += table[ids[at]!]!;
    table[own] = residue(-sum, prime);
  }
  return table;
}

function shuffled(count: number, draws: Draws): number[] {
  const order = Array.from({ length: count }, (_, at) => at);
  for (let at = count - 1; at > 0; at--) {
    const other = draws.next(at + 1);
    [order[at], order[other]] = [order[other]!, order[at]!];
  }
  return order;
}
