/** Main effects and their conjunctions as departures from each factor's commonest level, as the fit of a curve codes
 * them: at order 1 a factor without a level that half of the cells have has a column for each of its levels. */

import { subsetsOf } from "./conjunctions.ts";
import { levelsOf } from "./product.ts";
import type { Model } from "./types.ts";

/** Share of the cells from which on a factor's commonest level is what the others depart from. */
const COMMON = 0.5;

/** The columns that occur in the seen cells. */
export interface Terms {
  readonly columns: number;
  /** Factors in each column's conjunction. */
  readonly size: Int32Array;
  /** Return the columns of a cell; null for one with a conjunction that no seen cell has. */
  of(cell: number): number[] | null;
}

/** Return the terms of the seen cells up to conjunctions of the model's order. */
export function termsOf(model: Model, cells: Int32Array): Terms {
  const { sizes, order } = model;
  const groups = model.symmetric ?? [];
  const counts = levelCounts(model, cells);
  const reference = counts.map((count) => {
    const most = Math.max(...count);
    return order > 1 || most >= COMMON * cells.length ? count.indexOf(most) : -1;
  });
  let next = 1;
  const starts = sizes.map((size) => (next += size) - size);
  for (const group of groups) for (const factor of group) starts[factor] = starts[Math.min(...group)]!;
  const conjunctions = (cell: number): string[] => {
    const departed = levelsOf(sizes, cell).flatMap((level, factor) => (level === reference[factor] ? [] : [starts[factor]! + level]));
    if (groups.length) departed.sort((one, two) => one - two);
    const keys: string[] = [];
    for (let size = 1; size <= Math.min(order, departed.length); size++) {
      for (const chosen of subsetsOf(departed.length, size)) keys.push(chosen.map((at) => departed[at]!).join());
    }
    return keys;
  };
  const place = new Map<string, number>();
  const size: number[] = [];
  for (const cell of cells) {
    for (const key of conjunctions(cell)) {
      if (place.has(key)) continue;
      place.set(key, size.length);
      size.push(key.split(",").length);
    }
  }
  return {
    columns: size.length,
    size: Int32Array.from(size),
    of(cell) {
      const found = conjunctions(cell).map((key) => place.get(key) ?? -1);
      return found.includes(-1) ? null : found;
    },
  };
}

function levelCounts(model: Model, cells: Int32Array): number[][] {
  const counts = model.sizes.map((size) => new Array<number>(size).fill(0));
  for (const cell of cells) levelsOf(model.sizes, cell).forEach((level, factor) => counts[factor]![level]!++);
  for (const group of model.symmetric ?? []) {
    const pooled = counts[group[0]!]!.map((_, level) => group.reduce((sum, factor) => sum + counts[factor]![level]!, 0) / group.length);
    for (const factor of group) counts[factor] = pooled;
  }
  return counts;
}
