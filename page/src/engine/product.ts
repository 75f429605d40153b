/** Cells as numbers in the product of all factors, last factor fastest. */

import { type Mask, type Model, TooLarge } from "./types.ts";

/** Cells up to which a product is held whole. */
export const MOST_CELLS = 2 ** 20;

/** Return how many cells there are. */
export function productOf(sizes: readonly number[]): number {
  return sizes.reduce((total, size) => total * size, 1);
}

/** Return by how much a cell's number grows with one level of each factor. */
export function stridesOf(sizes: readonly number[]): number[] {
  const strides = new Array<number>(sizes.length).fill(1);
  for (let factor = sizes.length - 2; factor >= 0; factor--) strides[factor] = strides[factor + 1]! * sizes[factor + 1]!;
  return strides;
}

/** Return the levels of a cell. */
export function levelsOf(sizes: readonly number[], cell: number): number[] {
  const levels = new Array<number>(sizes.length);
  let rest = cell;
  for (let factor = sizes.length - 1; factor >= 0; factor--) {
    levels[factor] = rest % sizes[factor]!;
    rest = Math.floor(rest / sizes[factor]!);
  }
  return levels;
}

/** Return the number of the cell with these levels. */
export function cellOf(sizes: readonly number[], levels: readonly number[]): number {
  return sizes.reduce((total, size, factor) => total * size + levels[factor]!, 0);
}

/** Return the levels of every cell, factor by factor: entry (factor, cell) is at factor * cells + cell. */
export function levelTable(sizes: readonly number[]): Int32Array {
  const cells = productOf(sizes);
  const strides = stridesOf(sizes);
  const table = new Int32Array(cells * sizes.length);
  sizes.forEach((size, factor) => {
    const stride = strides[factor]!;
    for (let cell = 0, at = factor * cells; cell < cells; at += stride) {
      const level = (cell / stride) % size;
      table.fill(level, at, at + stride);
      cell += stride;
    }
  });
  return table;
}

/** Return the cells that are one and the same as this one, itself among them: levels in every order of their group. */
export function arrangementsOf(model: Model, cell: number): number[] {
  if (!model.symmetric?.length) return [cell];
  let found = [levelsOf(model.sizes, cell)];
  for (const group of model.symmetric) {
    found = found.flatMap((levels) =>
      orders(group.map((factor) => levels[factor]!)).map((some) => {
        const moved = [...levels];
        group.forEach((factor, place) => (moved[factor] = some[place]!));
        return moved;
      }),
    );
  }
  return [...new Set(found.map((levels) => cellOf(model.sizes, levels)))];
}

/** Return the one of a cell's arrangements that stands for all: levels ascend inside each group. */
export function canonicalOf(model: Model, cell: number): number {
  if (!model.symmetric?.length) return cell;
  const levels = levelsOf(model.sizes, cell);
  for (const group of model.symmetric) {
    const sorted = group.map((factor) => levels[factor]!).sort((one, two) => one - two);
    group.forEach((factor, place) => (levels[factor] = sorted[place]!));
  }
  return cellOf(model.sizes, levels);
}

function orders(items: readonly number[]): number[][] {
  if (items.length < 2) return [[...items]];
  return items.flatMap((first, place) => orders(items.filter((_, at) => at !== place)).map((rest) => [first, ...rest]));
}

/** Return the seen cells with all their arrangements; the mask itself where no factors are interchangeable. */
export function everyArrangement(model: Model, seen: Mask): Mask {
  if (!model.symmetric?.length) return seen;
  const whole = new Uint8Array(seen.length);
  for (let cell = 0; cell < seen.length; cell++) {
    if (seen[cell]) for (const one of arrangementsOf(model, cell)) whole[one] = 1;
  }
  return whole;
}

/** Return for each factor which of its levels some seen cell has, one mask per factor. */
export function presentLevels(model: Model, seen: Mask): Uint8Array[] {
  const { sizes } = model;
  const strides = stridesOf(sizes);
  const present = sizes.map((size) => new Uint8Array(size));
  for (let cell = 0; cell < seen.length; cell++) {
    if (!seen[cell]) continue;
    for (let factor = 0; factor < sizes.length; factor++) {
      present[factor]![Math.floor(cell / strides[factor]!) % sizes[factor]!] = 1;
    }
  }
  return present;
}

/** Say whether a cell may be proposed: a level is not paired with itself. */
export function mayCollect(model: Model, cell: number): boolean {
  if (!model.symmetric?.length) return true;
  const levels = levelsOf(model.sizes, cell);
  return model.symmetric.every((group) => new Set(group.map((factor) => levels[factor])).size === group.length);
}

/** Throw unless model and mask fit each other and the page. */
export function checkModel(model: Model, seen: Mask): void {
  const { sizes, order } = model;
  const cells = productOf(sizes);
  if (cells > MOST_CELLS) {
    throw new TooLarge(`${cells} cells are too many for the page; use recombine audit`);
  }
  if (seen.length !== cells) throw new RangeError(`the mask has ${seen.length} entries for ${cells} cells`);
  if (!(order >= 1 && order <= sizes.length)) {
    throw new RangeError(`order ${order} does not fit ${sizes.length} factors; choose one from 1 to ${sizes.length}`);
  }
  for (const group of model.symmetric ?? []) {
    if (new Set(group.map((factor) => sizes[factor])).size > 1) {
      throw new RangeError(`interchangeable factors ${group.join(", ")} must share their levels`);
    }
  }
}
