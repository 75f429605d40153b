/** Puzzles: three squares settle each, two never do, and what was played is in the link. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { identify } from "../src/engine/index.ts";
import { follow } from "../src/view/analysis.ts";
import { LinkError, packScene, unpackScene } from "../src/view/link.ts";
import { isSolved, isVeiled, MOVES, obey, playedIn, PUZZLES, puzzleScene } from "../src/view/puzzle.ts";
import { paint, resize, type Scene, sizesOf } from "../src/view/scene.ts";
import { Store } from "../src/view/store.ts";

const numbers = Array.from({ length: PUZZLES }, (_, at) => at + 1);
const emptyIn = (scene: Scene): number[] => [...scene.seen.keys()].filter((cell) => !scene.seen[cell]);

/** Every way to choose so many of some cells. */
function* choices(cells: readonly number[], count: number, from = 0): Generator<number[]> {
  if (!count) return yield [];
  for (let at = from; at <= cells.length - count; at++) for (const rest of choices(cells, count - 1, at + 1)) yield [cells[at]!, ...rest];
}

function settles(scene: Scene, cells: readonly number[]): boolean {
  const seen = scene.seen.slice();
  for (const cell of cells) seen[cell] = 1;
  return identify({ sizes: sizesOf(scene), order: 1 }, seen).verdicts.every((verdict) => verdict < 2);
}

function solution(scene: Scene): number[] {
  for (const cells of choices(emptyIn(scene), MOVES)) if (settles(scene, cells)) return cells;
  return [];
}

for (const number of numbers) {
  test(`puzzle ${number}: some three squares settle it, no two do, and not every three`, () => {
    const scene = puzzleScene(number);
    assert.equal(solution(scene).length, MOVES);
    for (const cells of choices(emptyIn(scene), MOVES - 1)) assert.ok(!settles(scene, cells), cells.join());
    const all = [...choices(emptyIn(scene), MOVES)];
    const sample = all.filter((_, at) => at % Math.ceil(all.length / 300) === 0);
    const share = sample.filter((cells) => settles(scene, cells)).length / sample.length;
    assert.ok(share > 0.02 && share < 0.7, `by chance it is solved with ${share}`);
  });
}

test("puzzles differ, grow, and are the same for everybody", () => {
  assert.equal(new Set(numbers.map((number) => packScene(puzzleScene(number)))).size, PUZZLES);
  assert.deepEqual(puzzleScene(3), puzzleScene(3));
  assert.deepEqual([1, PUZZLES].map((number) => sizesOf(puzzleScene(number))), [[6, 6], [9, 9]]);
});

test("what was given stays, three squares are all there are, and the third is a try", () => {
  const heard: string[] = [];
  const store = new Store(puzzleScene(1), (reason) => heard.push(reason));
  const [given, empty] = [[...store.scene.seen.keys()].filter((cell) => store.scene.seen[cell]), emptyIn(store.scene)];
  const play = (cells: readonly number[], seen = true): void => store.commit(paint(store.scene, cells, seen));
  play([given[0]!], false);
  assert.equal(store.scene.seen[given[0]!], 1);
  const wrong = [...choices(empty, MOVES)].find((cells) => !settles(store.scene, cells))!;
  play(wrong.slice(0, 2));
  assert.deepEqual([isVeiled(store.scene), store.scene.tries], [true, 0]);
  play(wrong.slice(2));
  assert.deepEqual([isVeiled(store.scene), store.scene.tries, isSolved(store.following)], [false, 1, false]);
  play([empty.find((cell) => !wrong.includes(cell))!]);
  assert.deepEqual([playedIn(store.scene), heard.length], [wrong, 1]);
  store.undo();
  assert.deepEqual([isVeiled(store.scene), store.scene.tries], [true, 1], "going back takes no try back");
  store.commit({ ...store.scene, seen: new Uint8Array(store.scene.seen.length) });
  assert.deepEqual(playedIn(store.scene), []);
  play(solution(store.scene));
  assert.deepEqual([store.scene.tries, isSolved(store.following)], [2, true]);
  assert.equal(resize(store.scene, [4, 4]).puzzle, 0);
});

test("a puzzle, what was played of it and the result are in the link", () => {
  const start = puzzleScene(5);
  const solved = obey(start, paint(start, solution(start), true))!;
  const link = packScene(solved);
  assert.match(link, /^z=5\.1&/);
  assert.deepEqual(unpackScene(link), solved);
  assert.ok(isSolved(follow(unpackScene(link))));
  assert.deepEqual(unpackScene("#z=2"), puzzleScene(2));
  const rest = packScene({ ...start, seen: start.seen.map(() => 1) });
  for (const bad of ["z=0", `z=${PUZZLES + 1}`, "z=a", "z=1.-2", rest]) assert.throws(() => unpackScene(bad), LinkError, bad);
});
