/** Every answer that Python stored, replayed. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import {
  certificate,
  fitAdditive,
  fitLink,
  identify,
  leverages,
  overlapKernel,
  predictNetwork,
  readSlopes,
  suggest,
  Verdict,
} from "../src/engine/index.ts";
import { apart, maskOf, modelOf, type Stored, storedDesigns } from "./vectors.ts";

const designs = storedDesigns();
const CLOSE = 1e-9;

interface Asked {
  sizes: number[];
  order: number;
  seen: string;
  estimable: string;
}

test("verdicts agree with the stored answers of R's estimability on 500 designs", () => {
  const stored = JSON.parse(
    readFileSync("../tests/theory/identification/estimability_designs.json").toString(),
  ) as Asked[];
  let unseen = 0;
  for (const { sizes, order, seen, estimable } of stored) {
    const { verdicts } = identify({ sizes, order }, maskOf(seen));
    assert.equal(Array.from(verdicts, (code) => +(code <= Verdict.DETERMINED)).join(""), estimable);
    assert.equal(Array.from(verdicts, (code) => +(code === Verdict.SEEN)).join(""), seen);
    unseen += Array.from(seen).filter((one) => one === "0").length;
  }
  assert.equal(stored.length, 500);
  assert.equal(unseen, 27052);
});

test("verdicts, rank and deficit are Python's on 500 designs", () => {
  assert.equal(designs.length, 500);
  for (const stored of designs) {
    const found = identify(modelOf(stored), maskOf(stored.seen));
    assert.equal(found.verdicts.join(""), stored.verdicts, stored.kind);
    assert.equal(found.rank, stored.rank);
    assert.equal(found.deficit, stored.deficit);
  }
});

function weightsOf(stored: Stored): number[] | undefined {
  return stored.weights ?? undefined;
}

function told(stored: Stored, values: Float64Array): Float64Array {
  return values.filter((_, cell) => Number(stored.verdicts[cell]) <= Verdict.DETERMINED);
}

test("leverages and values that follow are Python's to 1e-9", () => {
  for (const stored of designs) {
    const found = identify(modelOf(stored), maskOf(stored.seen));
    assert.ok(apart(told(stored, leverages(found)), stored.leverage) < CLOSE, stored.kind);
    assert.ok(apart(told(stored, fitAdditive(found, stored.outcome, weightsOf(stored)).values), stored.additive) < CLOSE, stored.kind);
  }
});

test("kernels and what networks say are Python's to 1e-9", () => {
  let replayed = 0;
  for (const stored of designs) {
    if (!stored.networks) continue;
    for (const name of ["ntk", "nngp"] as const) {
      const kernel = overlapKernel(name, stored.networks.depth, stored.sizes.length);
      assert.ok(apart(kernel, stored.networks[name].kernel) < CLOSE);
      const found = predictNetwork(modelOf(stored), maskOf(stored.seen), stored.outcome, kernel);
      const gap = apart(found, stored.networks[name].predictions);
      assert.ok(gap < CLOSE, `${stored.kind} ${name} ${stored.networks.depth}: ${gap}`);
      replayed++;
    }
  }
  assert.equal(replayed, 334);
});

test("slopes and shortcuts are those of Python's forecast to 1e-9", () => {
  let replayed = 0;
  for (const stored of designs) {
    if (!stored.networks) continue;
    const { depth } = stored.networks;
    const seen = maskOf(stored.seen);
    const found = identify(modelOf(stored), seen);
    for (const truth of [undefined, stored.outcome]) {
      const wanted = truth ? stored.networks["slopes with truth"] : stored.networks.slopes;
      for (const name of ["ntk", "nngp"] as const) {
        const kernel = overlapKernel(name, depth, stored.sizes.length);
        const told = predictNetwork(found.model, seen, stored.outcome, kernel);
        const parts = readSlopes(found, stored.outcome, told, truth, weightsOf(stored));
        if (!wanted) {
          assert.equal(parts, null);
          continue;
        }
        assert.ok(parts);
        assert.ok(apart(parts.slopes, wanted[name]) < CLOSE, `${stored.kind} ${apart(parts.slopes, wanted[name])}`);
        assert.ok(apart(parts.effects, wanted.effect) < CLOSE);
        if (name === "ntk") {
          assert.ok(apart(parts.pulls, wanted.pull) < CLOSE);
          assert.ok(apart(parts.shortcutSizes, wanted.size) < CLOSE);
          assert.ok(apart(parts.shortcutShares, wanted.share) < CLOSE);
        }
        replayed++;
      }
    }
  }
  assert.ok(replayed > 200);
});

test("cells to collect are Python's, and so is what they bring", () => {
  let [connected, sharpened] = [0, 0];
  for (const stored of designs) {
    const picks = suggest(identify(modelOf(stored), maskOf(stored.seen)), 4, weightsOf(stored));
    const connect = stored.picks.filter(([, reason]) => reason === "connect");
    const mine = picks.filter(({ reason }) => reason === "connect");
    assert.deepEqual(mine.map(({ cell, gain }) => [cell, gain]), connect.map(([cell, , gain]) => [cell, gain]));
    for (const { gain, settles } of mine) assert.equal(settles.length, gain);
    connected += mine.length;
    // Among cells that lower the variance alike rounding decides; what the first one brings is the same.
    const [first, wanted] = [picks[connect.length], stored.picks[connect.length]];
    assert.equal(Boolean(first), Boolean(wanted), `${stored.kind} ${JSON.stringify(stored.picks)}`);
    if (first && wanted) {
      assert.ok(Math.abs(first.gain - wanted[2]) < CLOSE);
      sharpened++;
    }
  }
  assert.ok(connected > 300 && sharpened > 100, `${connected} ${sharpened}`);
});

test("certificates of two factors are as short as Python's, which are the shortest", () => {
  let compared = 0;
  for (const stored of designs) {
    const found = identify(modelOf(stored), maskOf(stored.seen));
    const cells = Array.from(found.verdicts.keys()).filter((cell) => found.verdicts[cell] === Verdict.DETERMINED);
    stored.certificates.forEach((length, at) => {
      assert.equal(certificate(found, cells[at]!)!.terms.length, length);
      compared++;
    });
  }
  assert.ok(compared > 500, String(compared));
});

test("values bent by a curve are Python's: nine in ten to 1e-11, all to 1e-5", () => {
  const gaps: number[] = [];
  for (const stored of designs) {
    if (!stored.link) continue;
    const found = identify({ ...modelOf(stored), order: stored.link.order }, maskOf(stored.seen));
    const fit = fitLink(found, stored.outcome, weightsOf(stored))!;
    assert.equal(fit.curve.knots.length, stored.link.knots);
    assert.equal(fit.rounds, stored.link.rounds);
    gaps.push(apart(fit.values, stored.link.values));
  }
  // Rounds stop where little changes, so that fits with hardly more cells than terms may differ in the last digits.
  assert.ok(gaps.length > 50, String(gaps.length));
  assert.ok(Math.max(...gaps) < 1e-5, String(Math.max(...gaps)));
  assert.ok(gaps.filter((gap) => gap < 1e-11).length >= 0.9 * gaps.length);
});
