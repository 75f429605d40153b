/** The script of reports, on what reports of Python's embed: what it shows must be what Python says. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { conjunctionsOf, identify } from "../src/engine/index.ts";
import { accountOf, beside, proofOf, sumOf, tell, valueText } from "../src/report/account.ts";
import { type Embedded, open, NO_CELL } from "../src/report/data.ts";
import { ask, placeName } from "../src/report/search.ts";
import { compare, keyOf } from "../src/report/tables.ts";

interface Asked {
  levels: number[];
  verdict: string;
  predicted?: number;
  "standard error"?: number;
  low?: number;
  high?: number;
  leverage?: number;
}

const stored = JSON.parse(gunzipSync(readFileSync(new URL("../../test/vectors/reports.json.gz", import.meta.url))).toString()) as Record<
  string,
  { embedded: Embedded; asked: Asked[] }
>;
const reports = Object.entries(stored).map(([name, { embedded, asked }]) => ({ name, asked, book: open(embedded) }));
const everything = { words: "", hidden: new Set<number>(), place: null };

test("the engine's verdicts are Python's, cell by cell", () => {
  for (const { name, book } of reports) {
    const seen = new Uint8Array(book.codes.length);
    for (const cell of book.seen) seen[cell] = 1;
    const { verdicts } = identify(book.model, seen);
    const entries = [...book.entries];
    assert.ok(entries.length > 20, name);
    assert.deepEqual(entries.map((entry) => verdicts[entry]), entries.map((entry) => book.codes[entry]), name);
    assert.deepEqual([...book.seen], entries.filter((entry) => book.codes[entry] === 0), name);
  }
});

test("verdicts, values and ranges of asked cells are those of Python's table", () => {
  for (const { name, asked, book } of reports) {
    assert.ok(asked.length > 5, name);
    for (const one of asked) {
      const entry = book.find(one.levels);
      assert.equal(book.data.verdicts[book.codes[entry]!]![0], one.verdict, name);
      const value = book.value(entry);
      const pairs = [[one.predicted, value?.predicted], [one["standard error"], value?.error], [one.low, value?.low], [one.high, value?.high]];
      if (one.predicted === undefined) pairs.push([one.leverage, value?.leverage]);
      for (const [python, here] of pairs) {
        if (python === undefined) assert.ok(here === undefined || Number.isNaN(here), name);
        else assert.ok(Math.abs(python - here!) <= 1e-5 * Math.max(1, Math.abs(python)), `${name}: ${python} is shown as ${here}`);
      }
    }
  }
});

test("every certificate adds up: seen cells alone, and each conjunction as often as in the cell", () => {
  for (const { name, book } of reports) {
    const features = conjunctionsOf(book.model);
    const determined = [...book.entries].filter((entry) => book.codes[entry] === 1);
    const step = Math.ceil(determined.length / 30);
    for (const entry of determined.filter((_, at) => at % step === 0)) {
      const { found, why } = proofOf(book, entry);
      assert.ok(found, `${name}: ${why}`);
      const balance = new Map<number, number>();
      const add = (cell: number, weight: number): void => {
        for (let at = cell * features.width; at < (cell + 1) * features.width; at++) {
          balance.set(features.ids[at]!, (balance.get(features.ids[at]!) ?? 0) + weight);
        }
      };
      add(entry, -1);
      for (const { cell, numerator, denominator } of found.terms) {
        assert.ok(book.seen.includes(cell), name);
        add(cell, numerator / denominator);
      }
      for (const rest of balance.values()) assert.ok(Math.abs(rest) < 1e-9, name);
      assert.ok(sumOf(book, found).variance > 0, name);
    }
  }
});

test("what is not determined has no certificate, and says what is missing and what its value rests on", () => {
  const { book } = reports.find(({ name }) => name === "no outcome")!;
  const torn = reports.find(({ name }) => name === "two factors, torn")!.book;
  for (const one of [book, torn]) {
    for (const entry of one.entries) {
      if (one.codes[entry]! < 2) continue;
      const account = accountOf(one, entry);
      assert.deepEqual([account.terms.length, account.lead], [0, ""]);
      if (one === book) assert.equal(account.value, null);
      else assert.match(valueText(account, "y", one.data.rests), /^Predicted .* 90 % range .*; .* rests on [^;]*\.$/);
      assert.ok(!Number.isFinite(account.value?.certified));
      if (account.code === 3) assert.match(account.sentences.join(" "), /Never seen: /);
    }
  }
});

test("words, verdicts and places of the map choose cells", () => {
  const { book } = reports[0]!;
  const all = ask(book, everything);
  assert.equal(all.entries.length, book.entries.length);
  assert.equal(all.counts.reduce((sum, count) => sum + count, 0), book.entries.length);
  const one = ask(book, { ...everything, words: "oo, ewr cho" });
  assert.equal(one.entries.length, 1);
  const account = accountOf(book, one.entries[0]!);
  assert.deepEqual(account.cell, ["OO", "EWR", "CHO"]);
  assert.match(valueText(account, "air_time", book.data.rests), /air_time 51\.8, standard error 12\.2, 90 % range 31\.2 to 72\.4, certified 52\.5\.$/);
  assert.equal(ask(book, { ...everything, hidden: new Set([1]) }).entries.length, all.counts[0]);
  for (const panel of book.data.panels) {
    assert.match(placeName(book, { panel, down: 0, across: 0 }), /^(origin|carrier|dest) \w+, (origin|carrier|dest) \w+$/);
    if (panel.shape[0] * panel.shape[1] > 100) continue;
    // Every cell stands behind exactly one place of the grid.
    let found = 0;
    for (let down = 0; down < panel.shape[0]; down++) {
      for (let across = 0; across < panel.shape[1]; across++) found += ask(book, { ...everything, place: { panel, down, across } }).entries.length;
    }
    assert.equal(found, book.entries.length);
  }
});

test("columns sort by number where they hold numbers, and what says nothing is last", () => {
  assert.deepEqual(["1,200", "−3.5", "12.0 %", "0.5 s", "–", "", "ORD", "2e−4", "9E"].map(keyOf), [1200, -3.5, 12, 0.5, null, null, "ord", 2e-4, "9e"]);
  const sorted = (direction: "ascending" | "descending"): string[] => ["10", "–", "9", "b", "a"].sort((one, two) => compare(keyOf(one), keyOf(two), direction));
  assert.deepEqual(sorted("ascending"), ["9", "10", "a", "b", "–"]);
  assert.deepEqual(sorted("descending"), ["b", "a", "10", "9", "–"]);
});

test("numbers are written as in the report", () => {
  assert.deepEqual([beside(52.4996, 13.85), beside(0.12345, 0.0021), beside(7.25, NaN), beside(3, 8e-15)], ["52.5", "0.12345", "7.25", "3"]);
  assert.deepEqual([tell(12345.678), tell(-0.5), tell(1e-7), tell(NaN)], ["12,346", "−0.5", "1.00e−7", "–"]);
  assert.equal(NO_CELL, 6);
});
