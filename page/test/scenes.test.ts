/** Scenes, undo, links, formulas, tables and presets: what the page keeps and what it reads. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { errorsOf, follow, foresee, nextCells, rangeQuantile, variancesOf } from "../src/view/analysis.ts";
import { TableError } from "../src/reading/grid.ts";
import { proposeRoles } from "../src/reading/roles.ts";
import { gridOfText } from "../src/reading/text.ts";
import { readSheet, type Tidy } from "../src/reading/tidy.ts";
import { FormulaError, parseFormula } from "../src/view/formula.ts";
import { begin, look, redo, step, undo } from "../src/view/history.ts";
import { layOut, placeOf, shorten, strokeBetween, targetAt } from "../src/view/layout.ts";
import { LinkError, packMask, packScene, unpackMask, unpackScene } from "../src/view/link.ts";
import { openPreset, PRESETS } from "../src/view/presets.ts";
import { atUnseen, cellAt, lineOf, makeScene, paint, plainFactors, rectangleOf, resize, type Scene, truthOf } from "../src/view/scene.ts";
import { Store } from "../src/view/store.ts";
import { sceneOfTable } from "../src/view/tables.ts";
import { hasLeft, STEPS } from "../src/view/tour.ts";
import { gapsOf, truthValues } from "../src/view/truths.ts";
import { accountOf, hintOf, knownOf, nameOf, spoken } from "../src/view/words.ts";

const readCsv = (text: string): Tidy => readSheet({ name: "", grid: gridOfText(text) });

interface Guess {
  readonly factors: readonly string[];
  readonly outcome: string | null;
}

function guessRoles({ columns, rows }: Tidy): Guess {
  const { factors, columns: roles } = proposeRoles(columns, rows);
  return { factors, outcome: roles["outcome"] ?? null };
}

const small = (): Scene => makeScene(plainFactors([3, 4]));
const seenCells = (scene: Scene): number[] => [...scene.seen.keys()].filter((cell) => scene.seen[cell]);

test("painting makes a new scene and leaves the old one alone", () => {
  const before = small();
  const after = paint(before, [1, 5], true);
  assert.deepEqual([seenCells(before), seenCells(after), seenCells(paint(after, [1], false))], [[], [1, 5], [5]]);
  assert.deepEqual(lineOf(before, "row", 1), [4, 5, 6, 7]);
  assert.deepEqual(lineOf(before, "column", 1), [1, 5, 9]);
  assert.deepEqual(rectangleOf(before, [2, 1], [1, 0]), [4, 5, 8, 9]);
});

test("cells of a slice stand where the sides say", () => {
  const scene = makeScene(plainFactors([2, 3, 4]), { slice: [1, 0, 0] });
  for (let row = 0; row < 3; row++) {
    for (let column = 0; column < 4; column++) {
      assert.equal(cellAt(scene, row, column), 12 + 4 * row + column);
      assert.deepEqual(placeOf(scene, cellAt(scene, row, column)), [row, column]);
    }
  }
  assert.equal(placeOf(scene, 0), null);
  const turned = { ...scene, rows: 2, columns: 0, slice: [0, 2, 0] };
  assert.equal(cellAt(turned, 3, 1), 12 + 8 + 3);
});

test("another size keeps what fits", () => {
  const scene = paint(small(), [0, 7, 11], true);
  assert.deepEqual(seenCells(resize(scene, [2, 5])), [0, 8]);
  assert.deepEqual(resize(resize(scene, [5, 6]), [3, 4]).seen, scene.seen);
});

test("undo goes back, redo goes forth, one stroke is one step, and looking is none", () => {
  const first = begin(small());
  const painted = step(step(first, paint(first.now, [1], true), "stroke 1"), paint(first.now, [1, 2], true), "stroke 1");
  const looked = look(painted, { ...painted.now, focus: 3 });
  const cleared = step(looked, small());
  assert.deepEqual(seenCells(undo(cleared).now), [1, 2]);
  assert.deepEqual(seenCells(undo(undo(cleared)).now), []);
  assert.equal(undo(undo(undo(cleared))).now, first.now);
  assert.equal(redo(undo(cleared)).now, cleared.now);
  assert.equal(redo(cleared), cleared);
  assert.equal(redo(step(undo(cleared), small())).future.length, 0);
});

test("masks go into links and come back", () => {
  let bits = 7;
  for (let size = 1; size < 200; size++) {
    const mask = Uint8Array.from({ length: size }, () => ((bits = (bits * 75 + 74) % 65537) & 3 ? 1 : 0));
    assert.deepEqual(unpackMask(packMask(mask), size), mask);
  }
  assert.equal(packMask(new Uint8Array(50)), "");
  assert.throws(() => unpackMask("5.9", 10), LinkError);
  assert.throws(() => unpackMask("5.-1", 10), LinkError);
});

test("every preset goes into a link and comes back, painted or not", () => {
  for (const preset of PRESETS) {
    const scene = openPreset(preset);
    const painted: Scene = { ...paint(scene, [0, 3], !scene.seen[0]), focus: 2, depth: 7, kernel: "nngp", noise: 0.5, show: "misses" };
    for (const one of [scene, painted]) assert.deepEqual(unpackScene(`#${packScene(one)}`), one, preset.id);
  }
});

test("tables of the trades show what is told of them", () => {
  const opened = (id: string, parts: Partial<Scene> = {}): Scene => ({ ...openPreset(PRESETS.find((preset) => preset.id === id)!), ...parts });
  const counts = (scene: Scene): number[] => [...follow(scene).found.counts].slice(0, 4);
  const open = (scene: Scene): string[] => [...new Set([...follow(scene).found.verdicts.keys()].filter((cell) => follow(scene).found.verdicts[cell]! > 1).map((cell) => nameOf(scene, cell)))];
  // New drugs (two) with old lines (seven), old drugs (six) with new lines (two).
  assert.deepEqual(counts(opened("screen")).slice(2), [2 * 7 + 6 * 2, 0]);
  assert.deepEqual(counts(opened("pages")).slice(2), [0, 0]);
  assert.ok(open(opened("pages", { order: 2 })).some((name) => name.startsWith("page D")));
  const robot = opened("robot");
  assert.deepEqual(counts(robot).slice(2), [0, 15]);
  assert.ok(open(robot).every((name) => name.startsWith("light dark")));
  const trial = opened("trial");
  assert.equal(counts(trial)[0], 21 - 4);
  assert.deepEqual(open(trial).length, 12);
  assert.ok(open(trial).every((name) => name.includes("treatment G") !== name.includes("block VII")));
  for (const id of ["screen", "pages", "robot", "trial"]) {
    const { truth, factors } = opened(id);
    assert.ok(truth.unit && factors.every(({ levels }) => levels.every((name) => name === name.trim() && name)));
    assert.ok(truth.table!.every((value) => value > 0 && value < 100));
  }
});

test("own factors, hostile names and tables go into a link and come back", () => {
  const factors = [
    { name: "a,b;c~&d=!!", levels: ["<img src=x onerror=alert(1)>", "#?%", "٣ \u202E"] },
    { name: "second", levels: ["", "~,", ";;"] },
  ];
  const table = Float64Array.from([1, NaN, -2.5, 1e-7, 0, 3, 4, 5, NaN]);
  const scene = makeScene(factors, { truth: truthOf("table", { table, unit: "m/s & more" }), seen: Uint8Array.from(table, (value) => +Number.isFinite(value)) });
  assert.deepEqual(unpackScene(packScene(scene)), scene);
  const written = makeScene(plainFactors([4, 5, 2]), { truth: truthOf("formula", { formula: "a*b + (c > 1)" }), order: 2, rows: 0, columns: 2, slice: [0, 3, 0] });
  assert.deepEqual(unpackScene(packScene(written)), written);
});

test("a scene opens at the slice with most unseen cells, whether it comes from a preset, a table or a link", () => {
  const full = makeScene(plainFactors([3, 2, 4, 5]));
  const seenBut = (...cells: number[]): Scene => paint({ ...full, seen: full.seen.map(() => 1) }, cells, false);
  // Slices of the first two factors, 20 cells each.
  assert.deepEqual(atUnseen(seenBut(21, 65, 66, 101, 102)).slice.slice(0, 2), [1, 1]);
  assert.deepEqual(atUnseen(seenBut()).slice, [0, 0, 0, 0]);
  assert.deepEqual(atUnseen(full).slice, [0, 0, 0, 0]);
  const never = Array.from({ length: 20 }, (_, cell) => 40 + cell);
  assert.deepEqual(atUnseen(seenBut(...never, 119)).slice.slice(0, 2), [2, 1], "not where nothing was seen");
  assert.deepEqual(atUnseen({ ...seenBut(7, 8), rows: 0, columns: 1 }).slice, [0, 0, 1, 2]);
  assert.deepEqual(openPreset(PRESETS.find(({ id }) => id === "barley")!).slice, [1, 0, 0]);
  const link = packScene(seenBut(65, 66)).replace(/&w=[^&]*/, "");
  assert.deepEqual(unpackScene(link).slice.slice(0, 2), [1, 1]);
  assert.deepEqual(unpackScene(`${link}&w=2.3.0.1.0.0`).slice, [0, 1, 0, 0]);
  const lines = ["one", "two"].flatMap((k) => ["a", "b"].flatMap((i) => ["p", "q"].map((j) => `${k},${i},${j},1`)));
  const { scene } = sceneOfTable(readCsv(["k,i,j,y", ...lines.slice(0, -1)].join("\n")), ["k", "i", "j"], "y");
  assert.deepEqual(scene.slice.slice(0, 1), [1]);
});

test("links that make no sense are refused with a reason", () => {
  for (const link of ["s=9", "s=200x200", "s=0x4", "s=100x100x100", "s=9x9&k=cnn3", "s=9x9&k=ntk99", "s=9x9&o=5", "s=9x9&t=magic", "s=9x9&n=no", "s=9x9&w=0.0.0.0", "s=2x2&t=table&v=1~2", "x=1"]) {
    assert.throws(() => unpackScene(link), LinkError, link);
  }
});

test("formulas mean what they do on paper", () => {
  const at = (text: string, ...levels: number[]): number => parseFormula(text, levels.length)(levels);
  assert.equal(at("a + b * 2", 3, 4), 11);
  assert.equal(at("-a^2", 3, 0), -9);
  assert.equal(at("2^3^2", 0, 0), 512);
  assert.equal(at("10 - 4 - 3", 0, 0), 3);
  assert.equal(at("-a * b", 2, 5), -10);
  assert.equal(at("if(a < b, min(a, b), max(a, b)) + (a == 2)", 2, 5), 3);
  assert.equal(at("-7 % 3", 0, 0), 2);
  assert.equal(at("1.5e1 + .5 + A", 1, 0), 16.5);
  assert.ok(Math.abs(at("sin(pi / 2) + log(exp(2))", 0, 0) - 3) < 1e-12);
});

test("what is no formula is refused, and nothing of the page can be reached", () => {
  for (const text of ["", "a +", "a b", "(a", "a)", "c", "alert(1)", "a.b", "constructor", "__proto__", "toString(a)", "min(a)", "a; b", "`a`", "a => b", "[a]", "(".repeat(90) + "a"]) {
    assert.throws(() => parseFormula(text, 2), FormulaError, text);
  }
});

test("what is wrong with a formula is said in its own words", () => {
  const said = (text: string): string => {
    try {
      parseFormula(text, 2);
    } catch (error) {
      return (error as Error).message;
    }
    return "";
  };
  assert.match(said("alert(1)"), /'alert' at place 1 is no function; there are abs, .*, if$/);
  assert.match(said("a(1)"), /no function/);
  assert.match(said("c + 1"), /the factors are a, b$/);
  assert.match(said("sqrt + 1"), /sqrt\(a\)/);
  assert.match(said("a**2"), /'\*\*' at place 2 is written \^/);
  const gaps = (formula: string): string => gapsOf(truthValues(makeScene(plainFactors([3, 4]), { truth: truthOf("formula", { formula }) })));
  assert.equal(gaps("a ^ 2"), "");
  assert.match(gaps("1 / (a - 2)"), /4 of 12 cells/);
  assert.match(gaps("sqrt(-a)"), /any cell/);
});

test("the line above says how many, and under what", () => {
  const hint = (scene: Scene): string => hintOf(scene, follow(scene));
  const corner = makeScene(plainFactors([2, 2]), { seen: Uint8Array.from([1, 1, 1, 0]) });
  assert.match(hint(corner), /^Everything follows: 1 cell needs no measurement, if effects add\./);
  assert.match(hint({ ...corner, seen: Uint8Array.from([1, 0, 1, 1]) }), /1 cell needs/);
  assert.match(hint({ ...corner, seen: Uint8Array.from([1, 0, 0, 1]) }), /^2 cells do not follow.* one of them/);
  assert.match(hint({ ...corner, seen: Uint8Array.from([1, 1, 0, 0]) }), /^2 cells have a level/);
  const barley = { ...openPreset(PRESETS.find((preset) => preset.id === "barley")!), order: 2 };
  assert.match(hint(barley), /^Everything follows: 12 cells need no measurement, if effects add up to interactions of 2 factors\./);
  const cell = [...follow(barley).found.verdicts].indexOf(1);
  assert.ok(accountOf(barley, follow(barley), null, null, null, cell).facts.some(([name]) => name === "adding pairs says"));
});

test("an error says over how many cells it is", () => {
  const flights = follow(openPreset(PRESETS.find((preset) => preset.id === "flights")!));
  const row = errorsOf(flights, null)[0]!;
  assert.deepEqual([row.known, row.cells, knownOf(row)], [6, 57, "6 of 57"]);
  const islands = errorsOf(follow(openPreset(PRESETS[0]!)), null)[0]!;
  assert.deepEqual([islands.known, knownOf(islands)], [25, ""]);
});

test("a scene that cannot be worked out leaves the store as it was", () => {
  const scene = small();
  const store = new Store(scene);
  assert.throws(() => store.commit({ ...scene, truth: truthOf("formula", { formula: "a +" }) }), FormulaError);
  assert.equal(store.scene, scene);
});

test("tables are read with quotes, separators and line ends of every kind", () => {
  const table = readCsv('\uFEFFname,"the, site",y\r\n"a ""b""",x,1\r\n"two\nlines",z,2\r\n\r\n');
  assert.deepEqual(table.columns, ["name", "the, site", "y"]);
  assert.deepEqual(table.rows, [['a "b"', "x", "1"], ["two\nlines", "z", "2"]]);
  assert.deepEqual(readCsv("a;b;y\n1;2;3,5\n").rows, [["1", "2", "3.5"]]);
  assert.deepEqual(readCsv("a\tb\n1\t2").rows, [["1", "2"]]);
  for (const bad of ["", "a,b", "a,b\n1", "a,a\n1,2", 'a,b\n"1,2']) assert.throws(() => readCsv(bad), TableError, bad);
});

test("roles are guessed, rows of a cell are averaged, missing ones left out", () => {
  const text = "variety;site;yield\nTrebi;Morris;43,5\nTrebi;Morris;44,5\nPeat;Morris;30,5\nPeat;Duluth;NA\nTrebi;Duluth;28,5\n";
  const table = readCsv(text);
  const roles = guessRoles(table);
  assert.deepEqual(roles, { factors: ["variety", "site"], outcome: "yield" });
  const { scene, rows, used } = sceneOfTable(table, roles.factors, roles.outcome);
  assert.deepEqual([rows, used], [5, 4]);
  assert.deepEqual(scene.factors.map((factor) => factor.levels), [["Peat", "Trebi"], ["Duluth", "Morris"]]);
  assert.deepEqual([...scene.truth.table!], [NaN, 30.5, 28.5, 44]);
  const account = accountOf(scene, follow(scene), null, null, null, 0);
  assert.equal(account.facts.find(([name]) => name === "adding says")?.[1], "15");
  assert.throws(() => sceneOfTable(table, ["variety"], "yield"), TableError);
});

test("in a small table the outcome is guessed, never ticked as a factor", () => {
  // tests/sheets/test_page_reads_alike.py asks Python the same of many tables.
  const rows = Array.from({ length: 13 }, (_, row) => `drug ${row % 4},cell ${row % 5},${(row % 3) / 2},${((row * 29 + 3) % 53) / 7},${9 - (row % 3)}`);
  assert.deepEqual(guessRoles(readCsv(["drug,cell,dose,z,n", ...rows].join("\n"))), { factors: ["drug", "cell", "dose"], outcome: "z" });
  assert.deepEqual(guessRoles(readCsv("a,b\n1,1\n1,2\n2,1\n2,2")), { factors: ["a", "b"], outcome: null });
});

test("an outcome of two classes is the share of the second, one of more is refused", () => {
  const { scene } = sceneOfTable(readCsv("a,b,won\n1,1,yes\n1,1,no\n1,2,no\n2,1,yes"), ["a", "b"], "won");
  assert.deepEqual([[...scene.truth.table!], scene.truth.unit], [[0.5, 0, 1, NaN], "won = yes"]);
  assert.throws(() => sceneOfTable(readCsv("a,b,y\n1,1,x\n1,2,z\n2,1,w"), ["a", "b"], "y"), /3 values/);
});

test("numbers are ordered as numbers", () => {
  const { scene } = sceneOfTable(readCsv("dose,kind,y\n10,a,1\n9,b,2\n100,a,3"), ["dose", "kind"], "y");
  assert.deepEqual(scene.factors[0]!.levels, ["9", "10", "100"]);
});

test("a table that is too large says so and names the command", () => {
  const rows = Array.from({ length: 130 }, (_, at) => `${at},${at % 7}`).join("\n");
  assert.throws(() => sceneOfTable(readCsv(`a,b\n${rows}`), ["a", "b"], null), /recombine/);
});

test("presets show what they are there to show", () => {
  const counts = Object.fromEntries(PRESETS.map((preset) => [preset.id, [...follow(openPreset(preset)).found.counts]]));
  assert.deepEqual(counts["islands"], [16, 25, 40, 0]);
  assert.deepEqual(counts["addition"], [17, 64, 0, 0]);
  assert.deepEqual(counts["dispersed"], [18, 63, 0, 0]);
  assert.deepEqual(counts["equivalence"], [28, 8, 0, 0]);
  assert.deepEqual(counts["context"], [54, 0, 18, 0]);
  assert.deepEqual(counts["flights"], [55, 57, 0, 0]);
  assert.deepEqual(counts["barley"], [108, 12, 0, 0]);
  assert.deepEqual(counts["titanic"], [14, 2, 0, 0]);
  const islands = openPreset(PRESETS[0]!);
  const bridge = nextCells(follow(islands), 1)[0]!;
  assert.deepEqual([...follow(paint(islands, [bridge.cell], true)).found.counts], [17, 64, 0, 0]);
});

test("where effects add, adding is right and a deeper network is further off", () => {
  const scene = openPreset(PRESETS.find((preset) => preset.id === "addition")!);
  const following = follow(scene);
  const errors = [1, 3, 10, 20].map((depth) => errorsOf(following, foresee({ ...scene, depth }, following).predictions)[0]!);
  for (const error of errors) assert.ok(error.adding < 1e-9);
  for (let at = 1; at < errors.length; at++) assert.ok(errors[at]!.network > errors[at - 1]!.network);
  assert.ok(errors.at(-1)!.network < errors.at(-1)!.mean);
});

test("nine of ten cells lie in their range", () => {
  let state = 1;
  const uniform = (): number => ((state = (state * 48271) % 2147483647) / 2147483647);
  let [inside, all] = [0, 0];
  for (let design = 0; design < 200; design++) {
    const table = Float64Array.from({ length: 120 }, (_, cell) => Math.floor(cell / 12) + 2 * (cell % 12) + 3 * Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform()));
    const scene = makeScene(plainFactors([10, 12]), { truth: truthOf("table", { table }), seen: Uint8Array.from(table, () => +(uniform() < 0.5)) });
    const following = follow(scene);
    const variances = variancesOf(following)!;
    const quantile = rangeQuantile(following, variances);
    following.found.verdicts.forEach((verdict, cell) => {
      if (verdict !== 1) return;
      all++;
      inside += +(Math.abs(table[cell]! - following.fit!.values[cell]!) <= quantile * Math.sqrt(1 + variances[cell]!));
    });
  }
  assert.ok(all > 9000);
  // Sixty seen cells: rounding the rank up adds at most one in sixty.
  assert.ok(inside / all > 0.89 && inside / all < 0.9 + 1 / 60 + 0.01, String(inside / all));
});

test("truths are those of the tasks", () => {
  const scene = makeScene(plainFactors([2, 6, 6]), { truth: truthOf("context") });
  const values = truthValues(scene);
  assert.deepEqual([values[0], values[5], values[36], values[41]], [-1, -1, -1, 1]);
  const order = truthValues(makeScene(plainFactors([3, 3]), { truth: truthOf("ordering") }));
  assert.deepEqual([...order], [NaN, 1, 1, -1, NaN, 1, -1, -1, NaN]);
});

test("cells painted without a value give verdicts, and no number rests on them", () => {
  const table = Float64Array.from([1, 2, 3, NaN, NaN, NaN, NaN, NaN, NaN]);
  const scene = paint(makeScene(plainFactors([3, 3]), { truth: truthOf("table", { table }), seen: Uint8Array.from([1, 1, 1, 0, 0, 0, 0, 0, 0]) }), [3], true);
  const following = follow(scene);
  assert.equal(following.found.verdicts[4], 1);
  assert.ok(Number.isNaN(following.fit!.values[4]));
  assert.match(spoken(accountOf(scene, following, null, null, null, 3)), /no value/);
});

test("a sentence for those who hear the page names cell, verdict and sum", () => {
  const scene = { ...small(), seen: Uint8Array.from([1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]) };
  const following = follow(scene);
  const proof = { cell: 5, terms: [{ cell: 1, numerator: 1, denominator: 1 }, { cell: 4, numerator: 1, denominator: 1 }, { cell: 0, numerator: -1, denominator: 1 }], path: [] };
  assert.match(spoken(accountOf(scene, following, null, null, proof, 5)), /^a 2, b 2: determined\. .*1, 2 \(3\) plus 2, 1 \(3\) minus 1, 1 \(2\) is 4\./);
});

test("points find cells and labels, and a fast stroke leaves no gap", () => {
  const layout = layOut(small(), 200, 400, (text) => 7 * text.length);
  assert.deepEqual(targetAt(layout, layout.left + 1, layout.top + 1), { kind: "cell", row: 0, column: 0 });
  assert.deepEqual(targetAt(layout, 2, layout.top + layout.cell + 2), { kind: "row", level: 1 });
  assert.deepEqual(targetAt(layout, layout.left + 2, 3), { kind: "column", level: 0 });
  assert.equal(targetAt(layout, 1, 1), null);
  assert.deepEqual(strokeBetween([0, 0], [2, 4]).length, 5);
  assert.equal(shorten("a\u202Eb\nc"), "a b c");
  assert.equal(shorten("a very long name of a level").length, 16);
});

test("every step of the tour begins undone", () => {
  for (const one of STEPS) {
    const scene = one.scene();
    const following = follow(scene);
    assert.equal(one.done({ scene, following }), false, one.title);
    assert.deepEqual(unpackScene(packScene(scene)), scene);
  }
});

test("painting stays in the tour; a preset, a table, another size and a link leave it", () => {
  for (const one of STEPS) {
    const scene = one.scene();
    for (const kept of [paint(scene, [3], true), { ...scene, depth: 17 }, { ...scene, truth: truthOf("curve"), focus: 1 }]) assert.equal(hasLeft(scene, kept), false);
    const table = sceneOfTable(readCsv("a,b,y\n1,1,1\n1,2,2\n2,1,3"), ["a", "b"], "y").scene;
    for (const other of [...PRESETS.map(openPreset), table, resize(scene, [9, 9]), unpackScene(packScene(scene))]) assert.equal(hasLeft(scene, other), true);
  }
});
