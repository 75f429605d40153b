/** Independent seen cells near a target that reach it: with weights that are the only ones, none can be left out. */

import type { Conjunctions } from "./conjunctions.ts";
import { Echelon } from "./echelon.ts";
import { cellsOf } from "./identify.ts";
import { levelsOf } from "./product.ts";
import { combine, reconstruct } from "./rationals.ts";
import { invert, multiply, residue } from "./residues.ts";
import type { Identification } from "./types.ts";
import { addWeight, balances, type Weights } from "./weights.ts";

/** Primes under 2^26; weights that do not fit the first are put together from more of them. */
const MANY_PRIMES = [67108859, 67108837, 67108819, 67108777, 67108763, 67108757, 67108753, 67108747];
/** Orders of the nearest cells that are tried for a shorter sum, and how short a sum is good enough. */
const TRIED = 4;
const SHORT = 4;

/** Return weights on seen cells that give the target; null if none do. */
export function circuitTerms(found: Identification, features: Conjunctions, target: number): Weights | null {
  const cells = cellsOf(found.model, found.seen);
  const order = nearestFirst(found, features, cells, target);
  let best: Weights | null = null;
  for (let turn = 0; turn < TRIED && !(best && best.size <= SHORT); turn++) {
    const chosen = spanning(features, turned(order, turn), target);
    const weights = chosen && weigh(features, chosen, target);
    if (weights && (!best || weights.size < best.size)) best = weights;
  }
  return best;
}

/** Order seen cells by how many steps of shared columns lead from the target to theirs. */
function nearestFirst(found: Identification, features: Conjunctions, cells: Int32Array, target: number): number[] {
  const { ids, width, columns } = features;
  const distance = new Float64Array(columns).fill(columns);
  for (let at = target * width; at < (target + 1) * width; at++) distance[ids[at]!] = 0;
  for (let changed = true; changed; ) {
    changed = false;
    for (const cell of cells) {
      let reach = columns;
      for (let at = cell * width; at < (cell + 1) * width; at++) reach = Math.min(reach, distance[ids[at]!]! + 1);
      for (let at = cell * width; at < (cell + 1) * width; at++) {
        if (reach < distance[ids[at]!]!) {
          distance[ids[at]!] = reach;
          changed = true;
        }
      }
    }
  }
  const own = levelsOf(found.model.sizes, target);
  const scored = Array.from(cells, (cell) => {
    let sum = 0;
    for (let at = cell * width; at < (cell + 1) * width; at++) sum += distance[ids[at]!]!;
    const shared = levelsOf(found.model.sizes, cell).filter((level, factor) => level === own[factor]).length;
    return { cell, sum, shared };
  });
  scored.sort((one, two) => one.sum - two.sum || two.shared - one.shared || one.cell - two.cell);
  return scored.map(({ cell }) => cell);
}

/** Return the same order with neighbours exchanged in a fixed way, another one for each turn. */
function turned(order: readonly number[], turn: number): number[] {
  if (!turn) return [...order];
  const keyed = order.map((cell, at) => ({ cell, key: at + ((at * 7919 * turn) % 13) * turn }));
  return keyed.sort((one, two) => one.key - two.key).map(({ cell }) => cell);
}

/** Return the first independent cells whose span holds the target; null if all cells' does not. */
function spanning(features: Conjunctions, order: readonly number[], target: number): number[] | null {
  const rows = rowsOf(features, [target, ...order]);
  const echelon = new Echelon(rows.columns, MANY_PRIMES[0]!);
  const kept: number[] = [];
  let next = 8; // the target is tried at twice as many rows each time: what came later has no weight
  for (let at = 0; at <= order.length; at++) {
    if (at === order.length || kept.length === next) {
      if (echelon.express(...rows.row(target))) return kept;
      next *= 2;
    }
    if (at < order.length && echelon.add(...rows.row(order[at]!))) kept.push(order[at]!);
  }
  return null;
}

/** Solve for the weights modulo one prime after another until fractions balance exactly. */
function weigh(features: Conjunctions, chosen: readonly number[], target: number): Weights | null {
  const rows = rowsOf(features, [target, ...chosen]);
  let modulus = 1n;
  let residues = chosen.map(() => 0n);
  for (const prime of MANY_PRIMES) {
    const own = solve(rows, chosen, target, prime);
    if (!own) continue;
    residues = residues.map((old, at) => combine(old, modulus, BigInt(own[at]!), BigInt(prime)));
    modulus *= BigInt(prime);
    const fractions = residues.map((one) => reconstruct(one, modulus));
    if (fractions.some((one) => !one)) continue;
    const weights: Weights = new Map();
    chosen.forEach((cell, at) => addWeight(weights, cell, fractions[at]!.numerator, fractions[at]!.denominator));
    if (balances(features, target, weights)) return weights;
  }
  return null;
}

function solve(rows: Rows, chosen: readonly number[], target: number, prime: number): number[] | null {
  const echelon = new Echelon(rows.columns, prime);
  const heads: number[] = [];
  const met: [number, number][][] = [];
  for (const cell of chosen) {
    const mine: [number, number][] = [];
    const head = echelon.add(...rows.row(cell), (row, times) => mine.push([row, times]));
    if (!head) return null; // dependent modulo this prime alone: another one will do
    heads.push(head);
    met.push(mine);
  }
  const wanted = echelon.express(...rows.row(target));
  if (!wanted) return null;
  const left = chosen.map((_, at) => wanted.get(at) ?? 0);
  // Cell i is head_i times reduced row i and what was subtracted on the way there: solved from the last to the first.
  const weights = new Array<number>(chosen.length).fill(0);
  for (let at = chosen.length - 1; at >= 0; at--) {
    if (!left[at]) continue;
    weights[at] = multiply(left[at]!, invert(heads[at]!, prime), prime);
    for (const [row, times] of met[at]!) left[row] = residue(left[row]! - multiply(weights[at]!, times, prime), prime);
  }
  return weights;
}

interface Rows {
  readonly columns: number;
  row(cell: number): [number[], number[]];
}

/** Number the columns that some of the cells have. */
function rowsOf(features: Conjunctions, cells: readonly number[]): Rows {
  const { ids, width } = features;
  const place = new Map<number, number>();
  for (const cell of cells) {
    for (let at = cell * width; at < (cell + 1) * width; at++) if (!place.has(ids[at]!)) place.set(ids[at]!, place.size);
  }
  const ones = new Array<number>(width).fill(1);
  return {
    columns: place.size,
    row: (cell) => [Array.from(ids.subarray(cell * width, (cell + 1) * width), (column) => place.get(column)!), ones],
  };
}
