/** Cubes of cells: all corners but the target are seen, and their signed sum is the target. */

import { type Conjunctions, subsetsOf } from "./conjunctions.ts";
import { canonicalOf, levelsOf, stridesOf } from "./product.ts";
import type { Identification } from "./types.ts";
import { addWeight, type Weights } from "./weights.ts";

/** Look for order + 1 groups of factors with other levels such that all other corners of that cube are seen. Each group
 * is one factor where possible, or several that change together. */
export function cubeTerms(found: Identification, _features: Conjunctions, target: number): Weights | null {
  const { model, seen } = found;
  const { sizes } = model;
  const own = levelsOf(sizes, target);
  const apart = new Map<string, number[]>(); // seen cells by the factors in which they differ from the target
  for (let cell = 0; cell < seen.length; cell++) {
    if (!seen[cell]) continue;
    const key = differing(sizes, own, cell).join();
    const some = apart.get(key);
    if (some) some.push(cell);
    else apart.set(key, [cell]);
  }
  const strides = stridesOf(sizes);
  for (const groups of groupings(sizes.length, model.order + 1)) {
    const flipped = groups.flat().sort((one, two) => one - two);
    for (const opposite of apart.get(flipped.join()) ?? []) {
      const other = levelsOf(sizes, opposite);
      const steps = groups.map((group) =>
        group.reduce((step, factor) => step + (other[factor]! - own[factor]!) * strides[factor]!, 0),
      );
      const corners = cornersOf(steps, target);
      if (!corners.every(([cell]) => seen[cell])) continue;
      const weights: Weights = new Map();
      for (const [cell, sign] of corners) addWeight(weights, canonicalOf(model, cell), sign);
      return weights;
    }
  }
  return null;
}

function differing(sizes: readonly number[], own: readonly number[], cell: number): number[] {
  const levels = levelsOf(sizes, cell);
  return levels.flatMap((level, factor) => (level === own[factor] ? [] : [factor]));
}

/** Return all corners but the target, with the sign of each. */
function cornersOf(steps: readonly number[], target: number): [number, bigint][] {
  const corners: [number, bigint][] = [];
  for (let bits = 1; bits < 1 << steps.length; bits++) {
    let [cell, sign] = [target, -1n];
    steps.forEach((step, at) => {
      if (bits & (1 << at)) [cell, sign] = [cell + step, -sign];
    });
    corners.push([cell, sign]);
  }
  return corners;
}

/** Yield the ways to choose `count` disjoint groups of factors, fewest factors first. */
function* groupings(factors: number, count: number): Generator<number[][]> {
  for (let size = count; size <= factors; size++) {
    for (const chosen of subsetsOf(factors, size)) yield* partitions(chosen, count);
  }
}

function* partitions(members: readonly number[], count: number): Generator<number[][]> {
  if (count === 1) {
    yield [[...members]];
    return;
  }
  const [first, ...rest] = members as [number, ...number[]];
  for (let size = 0; size <= members.length - count; size++) {
    for (const places of subsetsOf(rest.length, size)) {
      const company = places.map((place) => rest[place]!);
      for (const others of partitions(rest.filter((one) => !company.includes(one)), count - 1)) {
        yield [[first, ...company], ...others];
      }
    }
  }
}
