/** Weighted cells in whole numbers: how a certificate is put together and checked. */

import type { Conjunctions } from "./conjunctions.ts";
import type { Fraction } from "./rationals.ts";

/** Weights by cell, one of each arrangement. */
export type Weights = Map<number, Fraction>;

/** Say whether the weighted rows of the cells add up to the target's row, in whole numbers. */
export function balances(features: Conjunctions, target: number, weights: Weights): boolean {
  const { ids, width } = features;
  let common = 1n;
  for (const { denominator } of weights.values()) common *= denominator / gcd(common, denominator);
  const balance = new Map<number, bigint>();
  const add = (cell: number, size: bigint): void => {
    for (let at = cell * width; at < (cell + 1) * width; at++) balance.set(ids[at]!, (balance.get(ids[at]!) ?? 0n) + size);
  };
  for (const [cell, { numerator, denominator }] of weights) add(cell, (numerator * common) / denominator);
  add(target, -common);
  return [...balance.values()].every((entry) => entry === 0n);
}

function gcd(one: bigint, two: bigint): bigint {
  return two === 0n ? one : gcd(two, one % two);
}

/** Add to a cell's weight. */
export function addWeight(weights: Weights, cell: number, numerator: bigint, denominator = 1n): void {
  const old = weights.get(cell) ?? { numerator: 0n, denominator: 1n };
  const top = old.numerator * denominator + numerator * old.denominator;
  const shared = gcd(top < 0n ? -top : top, old.denominator * denominator);
  if (top === 0n) weights.delete(cell);
  else weights.set(cell, { numerator: top / shared, denominator: (old.denominator * denominator) / shared });
}
