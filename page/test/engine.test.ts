/** The interface the page builds on, and what it does at its edges. */

import assert from "node:assert/strict";
import { test } from "node:test";
import * as engine from "../src/engine/index.ts";
import { Draws } from "../src/engine/residues.ts";
import { type Engine, identify, type Model, suggest, TooLarge, Verdict } from "../src/engine/index.ts";

test("every function of the interface is there", () => {
  const whole: Engine = engine; // what this proves is proved by the compiler
  assert.equal(typeof whole.fitLink, "function");
});

test("nothing seen: every level is unseen, and nothing follows", () => {
  for (const model of [{ sizes: [3, 2], order: 1 }, { sizes: [2, 2, 2], order: 2 }] as Model[]) {
    const found = identify(model, new Uint8Array(engine.productOf(model.sizes)));
    assert.ok(found.verdicts.every((code) => code === Verdict.UNSEEN_LEVEL));
    assert.equal(found.rank, 0);
    assert.equal(engine.certificate(found, 0), null);
    assert.ok(suggest(found, 2).length === 2);
    assert.ok(engine.leverages(found).every(Number.isNaN));
    assert.ok(engine.fitAdditive(found, new Float64Array(found.seen.length)).values.every(Number.isNaN));
    assert.equal(engine.fitLink(found, new Float64Array(found.seen.length)), null);
  }
});

test("everything seen: nothing is left to say", () => {
  const found = identify({ sizes: [3, 4], order: 1 }, new Uint8Array(12).fill(1));
  assert.deepEqual(found.counts, [12, 0, 0, 0]);
  assert.deepEqual([found.rank, found.deficit], [6, 0]);
  assert.deepEqual(suggest(found, 3), []);
});

test("a bridge joins two islands and settles every cell between them", () => {
  const seen = Uint8Array.of(1, 1, 0, 0, 1, 1, 0, 0, 0, 0, 1, 1, 0, 0, 1, 1);
  const found = identify({ sizes: [4, 4], order: 1 }, seen);
  assert.equal(found.counts[Verdict.DISCONNECTED], 8);
  const [first] = suggest(found, 1);
  assert.deepEqual([first!.reason, first!.gain], ["connect", 7]);
  seen[first!.cell] = 1;
  const after = identify({ sizes: [4, 4], order: 1 }, seen);
  assert.ok(first!.settles.every((cell) => after.verdicts[cell] === Verdict.DETERMINED));
  assert.equal(after.counts[Verdict.DISCONNECTED], 0);
});

test("verdicts do not change when the mask is painted on", () => {
  const seen = Uint8Array.of(1, 1, 1, 0);
  const found = identify({ sizes: [2, 2], order: 1 }, seen);
  seen[0] = 0;
  assert.equal(found.seen[0], 1);
});

test("what is too large says so and names the command", () => {
  assert.throws(() => identify({ sizes: [2000, 2000], order: 1 }, new Uint8Array(4_000_000)), TooLarge);
  const wide = identify({ sizes: [1000, 1000], order: 1 }, new Uint8Array(1_000_000).fill(1));
  assert.throws(() => engine.leverages(wide), /recombine audit/);
});

test("what does not fit is refused", () => {
  assert.throws(() => identify({ sizes: [2, 2], order: 3 }, new Uint8Array(4)), RangeError);
  assert.throws(() => identify({ sizes: [2, 2], order: 1 }, new Uint8Array(5)), RangeError);
  assert.throws(() => engine.overlapKernel("ntk", 0, 2), RangeError);
});

test("depth makes a network forget: less of each effect arrives", () => {
  const seen = Uint8Array.from({ length: 81 }, (_, cell) => +(cell % 9 === 4 || Math.floor(cell / 9) === 4));
  const truth = Float64Array.from(seen, (_, cell) => (cell % 9) + Math.floor(cell / 9));
  const found = identify({ sizes: [9, 9], order: 1 }, seen);
  const slopes = [1, 4, 16].map((depth) => {
    const told = engine.predictNetwork(found.model, seen, truth, engine.overlapKernel("nngp", depth, 2));
    return engine.readSlopes(found, truth, told, truth)!.slopes[0]!;
  });
  assert.ok(slopes[0]! > slopes[1]! && slopes[1]! > slopes[2]!, slopes.join());
});

test("connectivity and arithmetic say the same of two factors", () => {
  const draws = new Draws(5);
  for (let round = 0; round < 200; round++) {
    const sizes = [2 + draws.next(9), 2 + draws.next(9)];
    const seen = Uint8Array.from({ length: sizes[0]! * sizes[1]! }, () => +(draws.next(100) < 8 + (round % 30)));
    const graph = identify({ sizes, order: 1 }, seen);
    const exact = identify({ sizes: [...sizes, 1], order: 1 }, seen); // a factor of one level changes nothing
    assert.deepEqual([graph.route, exact.route], ["graph", "exact"]);
    assert.deepEqual(exact.verdicts, graph.verdicts);
    assert.equal(exact.rank, graph.rank);
    const [one, two] = [suggest(graph, 3), suggest(exact, 3)];
    assert.deepEqual(one.map(({ cell, gain }) => [cell, gain.toFixed(9)]), two.map(({ cell, gain }) => [cell, gain.toFixed(9)]));
  }
});
