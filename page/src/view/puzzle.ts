/** Puzzles: a grid that falls into four islands, to be settled by three more squares, chosen before one sees what follows. */

import { Verdict } from "../engine/index.ts";
import type { Following } from "./analysis.ts";
import { makeScene, plainFactors, type Scene } from "./scene.ts";
import { mixed } from "./truths.ts";

export const PUZZLES = 8;
export const MOVES = 3;
const ISLANDS = MOVES + 1;

/** Return the puzzle of a number from 1 on: the same for everybody. */
export function puzzleScene(puzzle: number): Scene {
  const size = 5 + Math.ceil(puzzle / 2);
  let draws = 1000 * puzzle;
  const below = (count: number): number => Math.floor(count * mixed(++draws));
  const shuffled = (): number[] => {
    const levels = Array.from({ length: size }, (_, level) => level);
    for (let at = size - 1; at > 0; at--) {
      const other = below(at + 1);
      [levels[at], levels[other]] = [levels[other]!, levels[at]!];
    }
    return levels;
  };
  const scene = makeScene(plainFactors([size, size]), { puzzle });
  const islands: [number[], number[]][] = Array.from({ length: ISLANDS }, () => [[], []]);
  const see = (row: number, column: number): void => void (scene.seen[row * size + column] = 1);
  const [rows, columns] = [shuffled(), shuffled()];
  rows.forEach((row, at) => {
    // Each island begins with a square; then a row and a column at a time join one, by a square that connects them.
    const [one, two] = at < ISLANDS ? [islands[at]!, islands[at]!] : [islands[below(ISLANDS)]!, islands[below(ISLANDS)]!];
    one[0].push(row);
    if (at < ISLANDS) see(row, columns[at]!);
    else see(row, one[1][below(one[1].length)]!);
    two[1].push(columns[at]!);
    if (at >= ISLANDS) see(two[0][below(two[0].length)]!, columns[at]!);
  });
  // Some more squares inside the islands settle nothing, and look as if they did.
  for (const [some, others] of islands) for (const row of some) for (const column of others) if (!below(3)) see(row, column);
  return scene;
}

/** Return the cells that the player has painted. */
export function playedIn(scene: Scene): number[] {
  const given = puzzleScene(scene.puzzle).seen;
  return [...scene.seen.keys()].filter((cell) => scene.seen[cell] && !given[cell]);
}

/** Whether what follows is hidden: it is until all squares are painted. */
export function isVeiled(scene: Scene): boolean {
  return scene.puzzle > 0 && playedIn(scene).length < MOVES;
}

export function isSolved({ found: { counts } }: Following): boolean {
  return !counts[Verdict.DISCONNECTED] && !counts[Verdict.UNSEEN_LEVEL];
}

/** Return the scene by the rules: what was given stays, the last square makes a try; null if there are too many. */
export function obey(before: Scene, after: Scene): Scene | null {
  if (!after.puzzle) return after;
  const given = puzzleScene(after.puzzle).seen;
  const scene = { ...after, seen: after.seen.map((one, cell) => one | given[cell]!) };
  const count = playedIn(scene).length;
  if (count > MOVES) return null;
  const tried = before.puzzle === after.puzzle && before.tries === after.tries && count === MOVES && isVeiled(before);
  return { ...scene, tries: after.tries + +tried };
}
