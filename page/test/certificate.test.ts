/** Certificates by what they must do: their signed rows add up to the cell's own, in whole numbers. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { type Certificate, certificate, certificateValue, conjunctionsOf, fitAdditive, identify, Verdict } from "../src/engine/index.ts";
import { maskOf, modelOf, storedDesigns } from "./vectors.ts";

function balance(proof: Certificate, ids: Int32Array, width: number): number[] {
  const common = proof.terms.reduce((product, { denominator }) => product * denominator, 1);
  const sums = new Map<number, number>();
  const add = (cell: number, size: number): void => {
    for (let at = cell * width; at < (cell + 1) * width; at++) sums.set(ids[at]!, (sums.get(ids[at]!) ?? 0) + size);
  };
  assert.ok(common < 2 ** 40);
  for (const { cell, numerator, denominator } of proof.terms) add(cell, numerator * (common / denominator));
  add(proof.cell, -common);
  return [...sums.values()];
}

test("every determined cell of 500 designs has a certificate that gives it exactly, and no other cell has one", () => {
  let [proven, longest] = [0, 0];
  for (const stored of storedDesigns()) {
    const found = identify(modelOf(stored), maskOf(stored.seen));
    const { ids, width } = conjunctionsOf(found.model);
    const values = fitAdditive(found, additive(stored.sizes)).values;
    for (let cell = 0; cell < found.verdicts.length; cell++) {
      const proof = certificate(found, cell);
      assert.equal(proof !== null, found.verdicts[cell]! <= Verdict.DETERMINED);
      if (!proof) continue;
      assert.ok(proof.terms.every((term) => found.seen[term.cell]));
      assert.ok(balance(proof, ids, width).every((sum) => sum === 0));
      const value = certificateValue(proof, additive(stored.sizes));
      assert.ok(Math.abs(value - values[cell]!) < 1e-6, `${value} ${values[cell]}`);
      if (found.verdicts[cell] === Verdict.DETERMINED) proven++;
      longest = Math.max(longest, proof.terms.length);
    }
  }
  assert.ok(proven > 4000 && longest > 9, `${proven} ${longest}`);
});

/** Outcomes that add: level numbers, each factor alike so that interchangeable ones may be exchanged. */
function additive(sizes: readonly number[]): number[] {
  return sizes.reduce<number[]>(
    (sums, size) => sums.flatMap((sum) => Array.from({ length: size }, (_, level) => sum + level * level)),
    [0],
  );
}

test("a square completes itself, and the path is drawn in order", () => {
  const proof = certificate(identify({ sizes: [2, 2], order: 1 }, Uint8Array.of(1, 1, 1, 0)), 3)!;
  assert.deepEqual(proof.path, [2, 0, 1]);
  assert.deepEqual(
    proof.terms.map(({ cell, numerator, denominator }) => [cell, numerator, denominator]),
    [[2, 1, 1], [1, 1, 1], [0, -1, 1]],
  );
});

test("interchangeable factors need halves where a level meets itself", () => {
  // Pairs (0,1), (1,2), (0,2) make an odd cycle: (0,0) is y01 + y02 - y12.
  const seen = new Uint8Array(9);
  for (const cell of [1, 2, 5]) seen[cell] = 1;
  const found = identify({ sizes: [3, 3], order: 1, symmetric: [[0, 1]] }, seen);
  assert.equal(found.verdicts.join(""), "100010001");
  const proof = certificate(found, 0)!;
  assert.equal(certificateValue(proof, [0, 10, 20, 10, 0, 70, 20, 70, 0]), 10 + 20 - 70);
});
