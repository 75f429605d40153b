/** A served table: what is in view, and how questions are written. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { addressOf } from "../src/served/asking.ts";
import { placeIn } from "../src/served/drawing.ts";
import { sceneAsked, UNTOUCHED } from "../src/served/painting.ts";
import { bestOf } from "../src/served/picker.ts";
import { cellUnder, firstFor, packLook, shapeOf, shareOf, unpackLook } from "../src/served/shape.ts";

const ROOM = { width: 1200, tall: 540, left: 130 };

test("a small map is shown whole, a large one through a window that fits", () => {
  assert.deepEqual(shapeOf([10, 20], ROOM), { shape: [10, 20], size: 40 });
  assert.deepEqual(shapeOf([16, 102], ROOM), { shape: [16, 102], size: 10 });
  const { shape, size } = shapeOf([1000, 1_000_000], ROOM);
  assert.ok(shape[1] * size <= ROOM.width - ROOM.left && shape[0] * size <= ROOM.tall);
  assert.ok(shape[0] * shape[1] <= 40_000);
  assert.deepEqual(shapeOf([3, 1000], ROOM).shape[0], 3);
  assert.ok(shapeOf([1000, 1000], { width: 0, tall: 0, left: 130 }).shape.every((side) => side >= 1));
});

test("a window moves only if it has to, and never past the end", () => {
  assert.deepEqual(firstFor([5, 5], [0, 0], [10, 10], [100, 100]), [0, 0]);
  assert.deepEqual(firstFor([10, 5], [0, 0], [10, 10], [100, 100]), [5, 0]);
  assert.deepEqual(firstFor([99, 99], [0, 0], [10, 10], [100, 100]), [90, 90]);
  assert.deepEqual(firstFor([0, 0], [50, 50], [10, 10], [100, 100]), [0, 0]);
});

test("points, shares and levels", () => {
  assert.deepEqual(cellUnder(131, 45, 100, 30, 14, [10, 10]), [1, 2]);
  assert.equal(cellUnder(99, 45, 100, 30, 14, [10, 10]), null);
  assert.equal(cellUnder(100 + 140, 45, 100, 30, 14, [10, 10]), null);
  assert.deepEqual(shareOf([50, 0], [10, 25], [100, 100]), [0, 0.5, 0.25, 0.1]);
  const frame = { view: { first: [0, 0], levels: [[7, 3], [1, 0]], labels: [["a", "b"], ["c", "d"]], codes: "0123" }, sides: [0, 2], at: [7, 5, 1] } as const;
  assert.deepEqual(placeIn(frame, [3, 5, 0]), [1, 1]);
  assert.equal(placeIn(frame, [3, 4, 0]), null);
  assert.equal(placeIn(frame, [2, 5, 0]), null);
});

test("a look comes back from its link, and none that the table lacks is taken", () => {
  const look = { sides: [2, 0], at: [3, 0, 11] } as const;
  assert.deepEqual(unpackLook(`#${packLook(look)}`, [4, 1, 12]), look);
  for (const bad of ["", "#s=9x9", "#at=4.0.0&sides=0.1", "#at=0.0&sides=0.1", "#at=0.0.0&sides=1.1", "#at=0.0.0&sides=0.3", "#at=0.0.-1&sides=0.1", "#at=0.0.0"]) {
    assert.equal(unpackLook(bad, [4, 1, 12]), null);
  }
});

test("a name typed in full wins, then capitals aside, then the first found", () => {
  const found = ["site 10", "Site 1", "site 1", "site 2"].map((label, level) => ({ level, label }));
  assert.equal(bestOf(found, "site 1", true)?.level, 2);
  assert.equal(bestOf(found, " SITE 2", true)?.level, 3);
  assert.equal(bestOf(found, "sit", true)?.level, 0);
  assert.equal(bestOf(found, "site 7", false), undefined);
  assert.equal(bestOf(found, " ", true), undefined);
});

test("a painting is told from a look, and a table's values are put back into it", () => {
  const table = "f=a%2Cx%2Cy%3Bb%2Cp%2Cq&m=0.3&t=table&v=1~2~3~&u=y&k=ntk3";
  assert.equal(sceneAsked(UNTOUCHED, table), table);
  for (const none of ["", "#", "#at=0.0&sides=0.1", "#pictures"]) assert.equal(sceneAsked(none, table), null);
  const back = new URLSearchParams(sceneAsked("#f=a%2Cx%2Cy%3Bb%2Cp%2Cq&m=1.2&t=table&k=nngp2", table)!);
  assert.deepEqual(["m", "k", "v", "u"].map((name) => back.get(name)), ["1.2", "nngp2", "1~2~3~", "y"]);
  for (const own of ["s=2x2&m=0.3&t=table&k=ntk3", "p=square&t=table", "f=a%2Cx%2Cy%3Bb%2Cp%2Cq&t=add&k=ntk3", "f=a%2Cx%2Cy%3Bb%2Cp%2Cq&t=table&v=4~4~4~4"]) {
    assert.equal(sceneAsked(`#${own}`, table), own);
  }
});

test("a question carries names as they are", () => {
  assert.equal(addressOf("cell", { at: [1, 2] }), "cell?at=1%2C2");
  const back = new URLSearchParams(addressOf("levels", { text: "a&token=x#" }).split("?")[1]);
  assert.deepEqual([back.get("text"), back.getAll("token")], ["a&token=x#", []]);
});
