/** Where cells and labels stand in a picture of a given width, and which cell is under a point. */

import { levelsOf } from "../engine/index.ts";
import { type Scene, sizesOf } from "./scene.ts";

export interface Layout {
  readonly width: number;
  readonly height: number;
  readonly rows: number;
  readonly columns: number;
  /** Pixels from one cell to the next, and how many of them stay empty. */
  readonly cell: number;
  readonly gap: number;
  /** Where the first cell begins. */
  readonly left: number;
  readonly top: number;
  readonly rowLabels: readonly string[];
  readonly columnLabels: readonly string[];
  /** Whether labels of columns are turned. */
  readonly turned: boolean;
  /** Size of the letters, and of how many levels one is named. */
  readonly letters: number;
  readonly every: number;
}

/** Return a label on one line, cut in the middle if it is long; control characters and turns of direction go. */
export function shorten(text: string, most = 16): string {
  const line = [...text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\s]+/gu, " ").trim()];
  if (line.length <= most) return line.join("");
  const head = Math.ceil((most - 1) / 2);
  return `${line.slice(0, head).join("")}…${line.slice(line.length - (most - 1 - head)).join("")}`;
}

export function layOut(scene: Scene, width: number, tallest: number, measure: (text: string) => number): Layout {
  const sizes = sizesOf(scene);
  const [rows, columns] = [sizes[scene.rows]!, sizes[scene.columns]!];
  const most = width < 240 ? 9 : 16;
  const rowLabels = scene.factors[scene.rows]!.levels.map((name) => shorten(name, most));
  const columnLabels = scene.factors[scene.columns]!.levels.map((name) => shorten(name, most));
  const widest = (names: readonly string[]): number => names.reduce((best, name) => Math.max(best, measure(name)), 0);
  const left = Math.ceil(Math.min(widest(rowLabels), width * 0.32)) + 10;
  const cell = Math.max(2, Math.floor(Math.min((width - left) / columns, tallest / rows, 46)));
  const turned = widest(columnLabels) > cell - 3 && widest(columnLabels) > 14;
  const top = turned ? Math.ceil(widest(columnLabels)) + 10 : 20;
  const letters = Math.min(12, Math.max(9, cell * 0.7));
  return {
    width,
    height: top + rows * cell + 2,
    rows,
    columns,
    cell,
    gap: cell > 20 ? 2 : cell > 6 ? 1 : 0,
    left,
    top,
    rowLabels,
    columnLabels,
    turned,
    letters,
    every: Math.max(1, Math.ceil(11 / cell)),
  };
}

/** Return the row and column of a cell in the picture; null where it lies in another slice. */
export function placeOf(scene: Scene, cell: number): [number, number] | null {
  const levels = levelsOf(sizesOf(scene), cell);
  const here = levels.every((level, factor) => factor === scene.rows || factor === scene.columns || level === scene.slice[factor]);
  return here ? [levels[scene.rows]!, levels[scene.columns]!] : null;
}

export type Target =
  | { readonly kind: "cell"; readonly row: number; readonly column: number }
  | { readonly kind: "row" | "column"; readonly level: number };

/** Return what is under a point of the picture; null outside. */
export function targetAt(layout: Layout, x: number, y: number): Target | null {
  const row = Math.floor((y - layout.top) / layout.cell);
  const column = Math.floor((x - layout.left) / layout.cell);
  const [inRows, inColumns] = [row >= 0 && row < layout.rows, column >= 0 && column < layout.columns];
  if (inRows && inColumns) return { kind: "cell", row, column };
  if (inRows && x >= 0 && x < layout.left) return { kind: "row", level: row };
  if (inColumns && y >= 0 && y < layout.top) return { kind: "column", level: column };
  return null;
}

/** Return the places a straight stroke passes on its way, so that a fast brush leaves no gaps. */
export function strokeBetween(from: readonly [number, number], to: readonly [number, number]): [number, number][] {
  const steps = Math.max(Math.abs(to[0] - from[0]), Math.abs(to[1] - from[1]));
  return Array.from({ length: steps + 1 }, (_, step) => {
    const part = steps ? step / steps : 0;
    return [Math.round(from[0] + part * (to[0] - from[0])), Math.round(from[1] + part * (to[1] - from[1]))];
  });
}
