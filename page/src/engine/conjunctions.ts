/** Each cell as a row of ones: one column for each subset of `order` factors together with their levels. */

import { levelTable, productOf } from "./product.ts";
import type { Model } from "./types.ts";

/** Columns of every cell of a product. */
export interface Conjunctions {
  /** Number of columns. */
  readonly columns: number;
  /** Entries of each row: one per subset of factors. */
  readonly width: number;
  /** Columns of cell z are ids[z * width], ..., ids[z * width + width - 1]; one that occurs twice counts twice. */
  readonly ids: Int32Array;
  /** Subsets of factors, as their entries stand in a row. */
  readonly subsets: readonly (readonly number[])[];
  /** First column of each subset's block; interchangeable subsets share one. */
  readonly offsets: Int32Array;
}

/** Return all subsets of `count` out of the numbers below `factors`, in lexicographic order. */
export function subsetsOf(factors: number, count: number): number[][] {
  if (count === 0) return [[]];
  const found: number[][] = [];
  for (let first = 0; first <= factors - count; first++) {
    for (const rest of subsetsOf(factors - first - 1, count - 1)) {
      found.push([first, ...rest.map((factor) => factor + first + 1)]);
    }
  }
  return found;
}

/** Return the columns of the model's cells. */
export function conjunctionsOf(model: Model): Conjunctions {
  const { sizes } = model;
  const subsets = subsetsOf(sizes.length, model.order);
  const stand = subsets.map((subset) => standIns(subset, model.symmetric ?? []));
  const starts = new Map<string, number>();
  let columns = 0;
  for (const { factors } of stand) {
    if (starts.has(factors.join())) continue;
    starts.set(factors.join(), columns);
    columns += productOf(factors.map((factor) => sizes[factor]!));
  }
  const cells = productOf(sizes);
  const width = subsets.length;
  const levels = levelTable(sizes);
  const ids = new Int32Array(cells * width);
  const offsets = Int32Array.from(stand, ({ factors }) => starts.get(factors.join())!);
  subsets.forEach((subset, place) => {
    const { factors, source, groups } = stand[place]!;
    if (groups.length) fillSorted(ids, width, place, offsets[place]!, levels, cells, sizes, subset, groups, factors);
    else fill(ids, width, place, offsets[place]!, levels, cells, sizes, source);
  });
  return { columns, width, ids, subsets, offsets };
}

interface StandIn {
  /** The subset whose columns are used: members of a group are replaced by its first ones. */
  readonly factors: readonly number[];
  /** The subset's own factors in the order of those that stand for them. */
  readonly source: readonly number[];
  /** Places in `factors` that hold two or more of one group: their levels are sorted. */
  readonly groups: readonly (readonly number[])[];
}

function standIns(subset: readonly number[], symmetric: readonly (readonly number[])[]): StandIn {
  const pairs = subset.map((factor) => [factor, factor] as [number, number]);
  for (const group of symmetric) {
    const members = pairs.filter(([own]) => group.includes(own));
    members.forEach((pair, place) => (pair[1] = group[place]!));
  }
  pairs.sort((one, two) => one[1] - two[1]);
  const factors = pairs.map(([, other]) => other);
  const groups = symmetric
    .map((group) => factors.flatMap((factor, place) => (group.includes(factor) ? [place] : [])))
    .filter((places) => places.length > 1);
  return { factors, source: pairs.map(([own]) => own), groups };
}

function fill(
  ids: Int32Array,
  width: number,
  place: number,
  offset: number,
  levels: Int32Array,
  cells: number,
  sizes: readonly number[],
  source: readonly number[],
): void {
  const number = new Int32Array(cells);
  for (const factor of source) {
    const size = sizes[factor]!;
    const at = factor * cells;
    for (let cell = 0; cell < cells; cell++) number[cell] = number[cell]! * size + levels[at + cell]!;
  }
  for (let cell = 0; cell < cells; cell++) ids[cell * width + place] = offset + number[cell]!;
}

function fillSorted(
  ids: Int32Array,
  width: number,
  place: number,
  offset: number,
  levels: Int32Array,
  cells: number,
  sizes: readonly number[],
  subset: readonly number[],
  groups: readonly (readonly number[])[],
  factors: readonly number[],
): void {
  for (let cell = 0; cell < cells; cell++) {
    const own = subset.map((factor) => levels[factor * cells + cell]!);
    for (const places of groups) {
      const sorted = places.map((at) => own[at]!).sort((one, two) => one - two);
      places.forEach((at, rank) => (own[at] = sorted[rank]!));
    }
    ids[cell * width + place] = offset + own.reduce((total, level, at) => total * sizes[factors[at]!]! + level, 0);
  }
}

/** Return the rank of all cells of factors with so many levels each, in closed form: a factor of n levels is a constant
 * and n - 1 contrasts; m interchangeable ones, j of them varying, span the symmetric power of dimension C(n - 2 + j, j). */
export function fullRank(model: Model, levels: readonly number[]): number {
  const grouped = new Set((model.symmetric ?? []).flat());
  const blocks = levels.flatMap((size, factor) => (grouped.has(factor) ? [] : [[size, 1] as [number, number]]));
  for (const group of model.symmetric ?? []) blocks.push([levels[group[0]!]!, group.length]);
  let byDegree = [1, ...new Array<number>(model.order).fill(0)];
  for (const [size, members] of blocks) {
    byDegree = byDegree.map((_, degree) => {
      let total = 0;
      for (let j = 0; j <= Math.min(members, degree); j++) total += byDegree[degree - j]! * (j ? binomial(size - 2 + j, j) : 1);
      return total;
    });
  }
  return byDegree.reduce((total, part) => total + part, 0);
}

/** Return in how many ways `k` of `n` can be chosen. */
export function binomial(n: number, k: number): number {
  if (k < 0 || k > n) return 0;
  let found = 1;
  for (let step = 1; step <= k; step++) found = (found * (n - k + step)) / step;
  return Math.round(found);
}
