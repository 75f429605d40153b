/** What the page shows: factors, which cells were seen, what is true, and how one looks at it. Scenes never change;
 * every action makes a new one, so that undoing is going back. */

import { type KernelName, levelsOf, type Mask, productOf } from "../engine/index.ts";

export interface Factor {
  readonly name: string;
  readonly levels: readonly string[];
}

export const TRUTHS = ["adding", "curve", "context", "equivalence", "ordering", "formula", "table"] as const;
export type TruthKind = (typeof TRUTHS)[number];

export interface Truth {
  readonly kind: TruthKind;
  /** Text of the reader's own formula. */
  readonly formula: string;
  /** One number per cell of a table, NaN where it has none; null unless there is a table. */
  readonly table: Float64Array | null;
  /** What the numbers are, such as "minutes in the air". */
  readonly unit: string;
}

export interface Scene {
  /** Name of the preset it began as; empty for the reader's own. */
  readonly preset: string;
  readonly factors: readonly Factor[];
  readonly order: number;
  readonly seen: Mask;
  readonly truth: Truth;
  /** Standard deviation of the noise on what was seen. */
  readonly noise: number;
  readonly kernel: KernelName;
  readonly depth: number;
  /** Factors along the two sides of the picture. */
  readonly rows: number;
  readonly columns: number;
  /** The level of every factor that is not on a side; entries of those on a side are not read. */
  readonly slice: readonly number[];
  /** The cell that is spoken of; -1 for none. */
  readonly focus: number;
  /** What the third picture shows. */
  readonly show: "says" | "misses";
  /** Number of the puzzle it is, 0 for none, and how often its last square was painted. */
  readonly puzzle: number;
  readonly tries: number;
}

export const MOST_LEVELS = 100;
export const MOST_FACTORS = 6;

export function sizesOf(scene: Scene): number[] {
  return scene.factors.map((factor) => factor.levels.length);
}

/** Factors named a, b, ... with levels 1, 2, ... */
export function plainFactors(sizes: readonly number[]): Factor[] {
  return sizes.map((size, factor) => ({
    name: "abcdefgh"[factor]!,
    levels: Array.from({ length: size }, (_, level) => String(level + 1)),
  }));
}

export function isPlain(factors: readonly Factor[]): boolean {
  return factors.every(
    (factor, place) => factor.name === "abcdefgh"[place] && factor.levels.every((name, level) => name === String(level + 1)),
  );
}

const EMPTY_TRUTH: Truth = { kind: "adding", formula: "", table: null, unit: "" };

/** Return a scene of these factors, nothing seen but what `seen` says; the last two factors are the sides. */
export function makeScene(factors: readonly Factor[], parts: Partial<Scene> = {}): Scene {
  const count = factors.length;
  return {
    preset: "",
    factors,
    order: 1,
    seen: new Uint8Array(productOf(factors.map((factor) => factor.levels.length))),
    truth: EMPTY_TRUTH,
    noise: 0,
    kernel: "ntk",
    depth: 3,
    rows: Math.max(0, count - 2),
    columns: count - 1,
    slice: factors.map(() => 0),
    focus: -1,
    show: "says",
    puzzle: 0,
    tries: 0,
    ...parts,
  };
}

export function truthOf(kind: TruthKind, parts: Partial<Truth> = {}): Truth {
  return { ...EMPTY_TRUTH, kind, ...parts };
}

/** Return the number of the cell at a row and a column of the picture. */
export function cellAt(scene: Scene, row: number, column: number, slice: readonly number[] = scene.slice): number {
  let cell = 0;
  scene.factors.forEach((factor, place) => {
    const level = place === scene.rows ? row : place === scene.columns ? column : slice[place]!;
    cell = cell * factor.levels.length + level;
  });
  return cell;
}

/** Return the slices there are: every combination of levels of the factors that are on no side. */
export function slicesOf(scene: Scene): number[][] {
  const sizes = sizesOf(scene).map((size, factor) => (factor === scene.rows || factor === scene.columns ? 1 : size));
  return Array.from({ length: productOf(sizes) }, (_, slice) => levelsOf(sizes, slice));
}

/** Return the scene at the slice with most unseen cells, the first of several, among those of which some cell was seen. */
export function atUnseen(scene: Scene): Scene {
  let [best, most] = [scene.slice, -1];
  for (const slice of scene.factors.length > 2 ? slicesOf(scene) : []) {
    const cells = scene.factors[scene.rows]!.levels.flatMap((_, row) => lineOf({ ...scene, slice }, "row", row));
    const unseen = cells.filter((cell) => !scene.seen[cell]).length;
    if (unseen > most && unseen < cells.length) [best, most] = [slice, unseen];
  }
  return { ...scene, slice: best };
}

/** Return a scene in which these cells are seen, or not. */
export function paint(scene: Scene, cells: Iterable<number>, seen: boolean): Scene {
  const mask = scene.seen.slice();
  for (const cell of cells) mask[cell] = seen ? 1 : 0;
  return { ...scene, seen: mask };
}

/** Return all cells of the slice in one row, or in one column. */
export function lineOf(scene: Scene, side: "row" | "column", level: number): number[] {
  const across = scene.factors[side === "row" ? scene.columns : scene.rows]!.levels.length;
  return Array.from({ length: across }, (_, other) =>
    side === "row" ? cellAt(scene, level, other) : cellAt(scene, other, level),
  );
}

/** Return the cells of the rectangle between two corners, each a row and a column. */
export function rectangleOf(scene: Scene, one: readonly [number, number], two: readonly [number, number]): number[] {
  const found: number[] = [];
  for (let row = Math.min(one[0], two[0]); row <= Math.max(one[0], two[0]); row++) {
    for (let column = Math.min(one[1], two[1]); column <= Math.max(one[1], two[1]); column++) {
      found.push(cellAt(scene, row, column));
    }
  }
  return found;
}

/** Return the scene with other numbers of levels; what was seen stays where it fits. */
export function resize(scene: Scene, sizes: readonly number[]): Scene {
  const next = makeScene(plainFactors(sizes), {
    ...scene,
    preset: "",
    puzzle: 0,
    tries: 0,
    factors: plainFactors(sizes),
    seen: new Uint8Array(productOf(sizes)),
    slice: sizes.map((size, factor) => Math.min(scene.slice[factor] ?? 0, size - 1)),
    focus: -1,
    rows: sizes.length === scene.factors.length ? scene.rows : Math.max(0, sizes.length - 2),
    columns: sizes.length === scene.factors.length ? scene.columns : sizes.length - 1,
    order: Math.min(scene.order, Math.max(1, sizes.length - 1)),
    truth: scene.truth.table ? truthOf("adding") : scene.truth,
  });
  if (sizes.length !== scene.factors.length) return next;
  const old = sizesOf(scene);
  for (let cell = 0; cell < scene.seen.length; cell++) {
    if (!scene.seen[cell]) continue;
    let rest = cell;
    let to = 0;
    let stride = 1;
    let fits = true;
    for (let factor = sizes.length - 1; factor >= 0; factor--) {
      const level = rest % old[factor]!;
      rest = Math.floor(rest / old[factor]!);
      fits &&= level < sizes[factor]!;
      to += level * stride;
      stride *= sizes[factor]!;
    }
    if (fits) next.seen[to] = 1;
  }
  return next;
}
