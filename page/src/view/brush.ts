/** The brush and the keys: what the pointer and the keyboard do to the pictures. */

import { byId } from "./elements.ts";
import { type Layout, placeOf, strokeBetween, targetAt } from "./layout.ts";
import { cellAt, lineOf, paint, rectangleOf, type Scene, sizesOf } from "./scene.ts";
import type { Store } from "./store.ts";

/** One stroke, from pressing to letting go: it paints, or it erases, as its first cell says. */
interface Stroke {
  readonly tag: string;
  readonly sees: boolean;
  readonly start: readonly [number, number];
  last: readonly [number, number];
  /** The scene before the stroke, for rectangles that shrink again. */
  readonly before: Scene;
}

let strokes = 0;

export function holdBrush(canvas: HTMLCanvasElement, store: Store, layoutOf: () => Layout | null): void {
  let stroke: Stroke | null = null;
  /** Where a finger came down that may paint one cell, or scroll: the browser takes it away then. */
  let tapped: ReturnType<typeof targetAt> = null;
  const free = byId("drag");
  free.addEventListener("click", () => {
    const on = canvas.style.touchAction !== "none";
    canvas.style.touchAction = on ? "none" : "";
    free.setAttribute("aria-pressed", String(on));
  });

  const under = (event: PointerEvent): ReturnType<typeof targetAt> => {
    const layout = layoutOf();
    const box = canvas.getBoundingClientRect();
    return layout && targetAt(layout, event.clientX - box.left, event.clientY - box.top);
  };

  const press = (target: ReturnType<typeof targetAt>): void => {
    if (!target) return;
    const { scene } = store;
    const tag = `stroke ${++strokes}`;
    if (target.kind !== "cell") {
      const cells = lineOf(scene, target.kind, target.level);
      store.commit(paint(scene, cells, !cells.every((cell) => scene.seen[cell])), tag);
      return;
    }
    const cell = cellAt(scene, target.row, target.column);
    const place = [target.row, target.column] as const;
    stroke = { tag, sees: !scene.seen[cell], start: place, last: place, before: scene };
    store.commit({ ...paint(scene, [cell], stroke.sees), focus: cell }, tag);
    canvas.focus({ preventScroll: true });
  };

  canvas.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    tapped = null;
    if (event.pointerType === "touch" && canvas.style.touchAction !== "none") tapped = under(event);
    else {
      press(under(event));
      if (stroke) canvas.setPointerCapture(event.pointerId);
      event.preventDefault();
    }
  });

  canvas.addEventListener("pointermove", (event) => {
    const target = under(event);
    if (tapped) return;
    if (!stroke) {
      const cell = target?.kind === "cell" ? cellAt(store.scene, target.row, target.column) : -1;
      if (cell >= 0 && cell !== store.scene.focus) store.view({ focus: cell });
      return;
    }
    if (target?.kind !== "cell") return;
    const place = [target.row, target.column] as const;
    const cell = cellAt(store.scene, ...place);
    if (place[0] === stroke.last[0] && place[1] === stroke.last[1]) return;
    const scene = event.shiftKey
      ? paint({ ...store.scene, seen: stroke.before.seen }, rectangleOf(store.scene, stroke.start, place), stroke.sees)
      : paint(store.scene, strokeBetween(stroke.last, place).map(([row, column]) => cellAt(store.scene, row, column)), stroke.sees);
    stroke.last = place;
    store.commit({ ...scene, focus: cell }, stroke.tag);
  });

  const end = (): void => {
    tapped = stroke = null;
  };
  canvas.addEventListener("pointerup", (event) => {
    if (tapped && JSON.stringify(tapped) === JSON.stringify(under(event))) press(tapped);
    end();
  });
  canvas.addEventListener("pointercancel", end);
}

/** Let a picture that is not painted on show the cell under the pointer. */
export function followPointer(canvas: HTMLCanvasElement, store: Store, layoutOf: () => Layout | null): void {
  const show = (event: PointerEvent): void => {
    const layout = layoutOf();
    const box = canvas.getBoundingClientRect();
    const target = layout && targetAt(layout, event.clientX - box.left, event.clientY - box.top);
    if (target?.kind !== "cell") return;
    const cell = cellAt(store.scene, target.row, target.column);
    if (cell !== store.scene.focus) store.view({ focus: cell });
  };
  canvas.addEventListener("pointermove", show);
  canvas.addEventListener("pointerdown", show);
}

const MOVES: Readonly<Record<string, readonly [number, number]>> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
};

/** Arrow keys move the focus, space or enter paints, page keys change the slice; `moved` hears of every key that did. */
export function holdKeys(canvas: HTMLCanvasElement, store: Store, moved: () => void): void {
  let run = 0;
  canvas.addEventListener("keydown", (event) => {
    const { scene } = store;
    const sizes = sizesOf(scene);
    const [rows, columns] = [sizes[scene.rows]!, sizes[scene.columns]!];
    const place = scene.focus >= 0 ? placeOf(scene, scene.focus) : null;
    const go = (row: number, column: number): void => store.view({ focus: cellAt(scene, row, column) });
    const step = MOVES[event.key];
    if (step) {
      const next = place ? [clamp(place[0] + step[0], rows), clamp(place[1] + step[1], columns)] : [0, 0];
      go(next[0]!, next[1]!);
      // With shift held, the keys paint as they go.
      if (event.shiftKey) store.commit(paint(store.scene, [store.scene.focus], true), `keys ${run}`);
      else run++;
    } else if (event.key === "Home") go(place?.[0] ?? 0, 0);
    else if (event.key === "End") go(place?.[0] ?? 0, columns - 1);
    else if (event.key === "PageDown" || event.key === "PageUp") {
      if (!turnSlice(store, event.key === "PageDown" ? 1 : -1)) return;
    } else if (event.key === " " || event.key === "Enter") {
      const cell = place ? scene.focus : cellAt(scene, 0, 0);
      store.commit({ ...paint(scene, [cell], !scene.seen[cell]), focus: cell });
    } else if (event.key === "Escape") store.view({ focus: -1 });
    else return;
    event.preventDefault();
    moved();
  });
}

/** Go to the next or the last slice, and take the focus along; false where there is only one. */
export function turnSlice(store: Store, by: number): boolean {
  const { scene } = store;
  const sizes = sizesOf(scene).map((size, factor) => (factor === scene.rows || factor === scene.columns ? 1 : size));
  const count = sizes.reduce((total, size) => total * size, 1);
  if (count < 2) return false;
  let at = (scene.slice.reduce((sum, level, factor) => sum * sizes[factor]! + (sizes[factor]! > 1 ? level : 0), 0) + by + count) % count;
  const slice = [...scene.slice];
  for (let factor = sizes.length - 1; factor >= 0; factor--) {
    if (sizes[factor]! > 1) slice[factor] = at % sizes[factor]!;
    at = Math.floor(at / sizes[factor]!);
  }
  const place = scene.focus >= 0 ? placeOf(scene, scene.focus) : null;
  store.view({ slice, focus: place ? cellAt(scene, place[0], place[1], slice) : scene.focus });
  return true;
}

function clamp(value: number, size: number): number {
  return Math.min(Math.max(value, 0), size - 1);
}
