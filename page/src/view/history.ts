/** Undo and redo: the scenes before and after this one. */

import type { Scene } from "./scene.ts";

export interface History {
  readonly past: readonly Scene[];
  readonly now: Scene;
  readonly future: readonly Scene[];
  /** Steps with the same tag in a row, such as the moves of one slider, are undone together. */
  readonly tag: string;
}

const LONGEST = 200;

export function begin(scene: Scene): History {
  return { past: [], now: scene, future: [], tag: "" };
}

/** Take a step that can be undone. */
export function step(history: History, scene: Scene, tag = ""): History {
  if (tag && tag === history.tag) return { ...history, now: scene, future: [] };
  return { past: [...history.past.slice(-LONGEST + 1), history.now], now: scene, future: [], tag };
}

/** Look elsewhere: focus, slice and view change, and undoing does not bring them back. */
export function look(history: History, scene: Scene): History {
  return { ...history, now: scene };
}

export function undo(history: History): History {
  const { past, now, future } = history;
  if (!past.length) return history;
  return { past: past.slice(0, -1), now: past[past.length - 1]!, future: [now, ...future], tag: "" };
}

export function redo(history: History): History {
  const { past, now, future } = history;
  if (!future.length) return history;
  return { past: [...past, now], now: future[0]!, future: future.slice(1), tag: "" };
}
