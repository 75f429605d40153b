/** Workbooks and packed files: what sheets hold, and what is said of those that are damaged, locked or far too large. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { readFile } from "../src/reading/files.ts";
import { numberText, readXlsx } from "../src/reading/xlsx.ts";
import { inflate } from "../src/reading/zip.ts";
import { archive, crc32, workbook } from "./archive.ts";

const rowsOf = async (sheet: string, more = {}): Promise<unknown> => (await readXlsx(workbook({ Data: sheet }, more)))[0]!.grid.rows;
const refused = (bytes: Uint8Array, words: RegExp): Promise<void> => assert.rejects(readXlsx(bytes), { name: "TableError", message: words });

test("the checksum is that of zip", () => {
  assert.equal(crc32(new TextEncoder().encode("123456789")), 0xcbf43926);
});

test("numbers, texts, booleans, errors and gaps", async () => {
  const sheet = `<row r="2"><c r="B2" t="s"><v>0</v></c><c r="D2" t="inlineStr"><is><r><t>in</t></r><r><t xml:space="preserve">line </t></r><rPh><t>sound</t></rPh></is></c></row>
    <row><c><v>0.10000000000000001</v></c><c t="b"><v>1</v></c><c t="e"><v>#N/A</v></c><c t="str"><f>A1&amp;B1</f><v>a&lt;b&#x263A;</v></c></row><!-- <c r="A9"><v>9</v></c> -->
    <row r="5"><c r="A5"><v>12</v></c><c r="B5" s="0"/></row>`;
  const strings = ["plain <b>&</b> \u2068", "unused"];
  assert.deepEqual(await rowsOf(sheet, { strings }), [[], ["", "plain <b>&</b> \u2068", "", "inline "], ["0.1", "TRUE", "", "a<b☺"], [], ["12"]]);
});

test("dates are told from numbers by their format", async () => {
  const formats = ["General", "yyyy-mm-dd", "0.00", '0" days"', "[Red]0.0", "[h]:mm", "mmm\\-yy", '[$-409]d/m/yy h:mm;@', "#,##0_);(#,##0)", "0.0E+00"];
  const cells = formats.map((_, at) => `<c s="${at}"><v>45000.25</v></c>`).join("");
  const dates = (await rowsOf(`<row>${cells}</row>`, { formats }) as string[][])[0]!.map((text) => (text === "45000.25" ? "" : text));
  const date = "2023-03-15T06:00:00";
  assert.deepEqual(dates, ["", date, "", "", "", "45000 days, 6:00:00", date, date, "", ""]);
  assert.deepEqual(await rowsOf('<row><c s="1"><v>1</v></c><c s="1"><v>60</v></c><c s="1"><v>61</v></c><c s="1"><v>45000</v></c><c s="1"><v>0.5</v></c></row>', { formats }), [["1900-01-01", "1900-02-28", "1900-03-01", "2023-03-15", "12:00:00"]]);
  assert.deepEqual(await rowsOf('<row><c s="1"><v>43538</v></c></row>', { formats, since1904: true }), [["2023-03-15"]]);
});

test("numbers are written as Python writes them", () => {
  const told = { "1": 1, "-0.5": -0.5, "0": -0, "1e-05": 1e-5, "0.0001": 1e-4, "1.5e+22": 1.5e22, "1e-300": 1e-300, "123456789012": 123456789012, "0.30000000000000004": 0.1 + 0.2 };
  for (const [text, number] of Object.entries(told)) assert.equal(numberText(number), text);
});

test("merged ranges and several sheets come in the workbook's order; empty ones do not", async () => {
  const row = (text: string): string => `<row><c t="str"><v>${text}</v></c></row>`;
  const sheets = await readXlsx(workbook({ Empty: "", "R & D": row("one"), Last: row("two") }, { merged: "<mergeCells><mergeCell ref='A1:B3'/><mergeCell ref='AA10:AB10'/></mergeCells>" }));
  assert.deepEqual(sheets.map(({ name, grid }) => [name, grid.rows]), [["R & D", [["one"]]], ["Last", [["two"]]]]);
  assert.deepEqual(sheets[0]!.grid.merged, [[0, 0, 2, 1], [9, 26, 9, 27]]);
});

test("a formula without its result is named by its cell, and an error is noted and empty", async () => {
  for (const value of ["", "<v></v>", "<v/>"]) {
    const [sheet] = await readXlsx(workbook({ Data: `<row r="7"><c r="AB7"><f>1+1</f>${value}</c><c r="AC7"><v>1</v></c></row>` }));
    assert.match(sheet!.fault!, /^the formula in cell AB7 of sheet Data has no stored result; .*save it again$/);
  }
  assert.deepEqual(await rowsOf('<row><c t="str"><f>""</f><v></v></c><c><v>1</v></c></row>'), [["", "1"]]);
  const [sheet] = await readXlsx(workbook({ Data: '<row><c t="e"><v>#N/A</v></c><c><v>1</v></c></row><row><c r="C2" t="e"><f>1/0</f><v>#DIV/0!</v></c></row>' }));
  assert.deepEqual([sheet!.grid.rows, sheet!.fault, sheet!.notes], [[["", "1"]], "", [{ kind: "error_cell", lines: [1, 2], values: ["A1", "C2"], count: 2 }]]);
});

test("what is damaged, cut, locked or no workbook is told in one sentence", async () => {
  const good = workbook({ Data: "<row><c><v>1</v></c></row>" });
  const sheet = new TextDecoder("latin1").decode(good).indexOf("xl/worksheets/sheet1.xml");
  for (let at = 1; at < good.length; at += 7) await assert.rejects(readXlsx(good.subarray(0, at)), { name: "TableError", message: /damaged/ });
  const flipped = good.slice();
  flipped[sheet + 40]! ^= 0xff;
  await refused(flipped, /damaged/);
  const locked = archive({ "xl/workbook.xml": "<workbook/>" }, { locked: true });
  await refused(locked, /password/);
  await refused(archive({ "content.xml": "<office/>" }), /no workbook that the page reads/);
  await refused(archive({ "xl/workbook.xml": "<workbook/>" }), /no sheet/);
  await refused(workbook({ Data: '<row><c r="XFE1"><v>1</v></c></row>' }), /damaged/);
  await refused(workbook({ Data: '<row r="0"><c><v>1</v></c></row>' }), /damaged/);
});

test("a bomb is stopped, whatever size it claims", async () => {
  const many = "<row>" + '<c r="A1"><v>1</v></c>'.repeat(5_000_000);
  await refused(workbook({ Data: many }, { claimed: 10 }), /unpacked the file has more than 100 MB/);
  const wide = Array.from({ length: 400 }, (_, row) => `<row r="${row + 1}"><c r="XFD${row + 1}"><v>1</v></c></row>`).join("");
  await refused(workbook({ Data: wide }), /sheet Data has more than 5 million cells/);
  await assert.rejects(inflate(gzipSync(new Uint8Array(101e6)), "gzip"), /more than 100 MB/);
  await assert.rejects(inflate(gzipSync(new Uint8Array(1000)).subarray(0, 15), "gzip"), /damaged/);
});

test("entities of a document's own are never worked out", async () => {
  const xml = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]><row><c t="str"><v>&b;&#99999999999;</v></c></row>';
  assert.deepEqual(await rowsOf(xml), [["&b;&#99999999999;"]]);
});

test("what only the program reads is told with its command", async () => {
  const bytes = (text: string): Uint8Array => Uint8Array.from(text, (letter) => letter.charCodeAt(0));
  const told = async (name: string, content: Uint8Array): Promise<string> => {
    const error: unknown = await readFile(name, content).then(() => null, (reason: unknown) => reason);
    assert.ok(error instanceof Error && error.name === "TableError", name);
    return error.message;
  };
  const old = bytes("\xd0\xcf\x11\xe0\xa1\xb1");
  assert.equal(await told("a.xls", old), "a.xls is an old Excel file, which the page does not read; save it as .xlsx, or run: recombine explore a.xls");
  assert.equal(await told("a.xlsx", old), "a.xlsx is locked by a password; save it without one");
  assert.match(await told("a.h5ad", bytes("\x89HDF\r\n")), /run: recombine explore a\.h5ad$/);
  assert.match(await told("a.sqlite", bytes("SQLite format 3\0")), /run: recombine explore a\.sqlite$/);
  assert.match(await told("a.ods", archive({ "content.xml": "<office/>" })), /run: recombine explore a\.ods$/);
  assert.match(await told("a.json", bytes(' [{"a": 1}]')), /is JSON.*run: recombine explore a\.json$/);
  assert.match(await told("a.png", bytes("\x89PNG\r\n\x1a\n\0\0\0\rIHDR")), /not text/);
  assert.match(await told("a.csv", bytes("a,b\n\xff\xc3\xa9,1\n")), /not in one encoding/);
});

test("texts are unpacked and decoded, whatever they are written in", async () => {
  const text = "kind;size\né;1,5\n";
  const rows = [["kind", "size"], ["é", "1,5"]];
  const encodings = { utf8: new TextEncoder().encode(text), marked: Buffer.from(`\ufeff${text}`), utf16: Buffer.from(`\ufeff${text}`, "utf16le"), latin1: Buffer.from(text, "latin1") };
  for (const content of Object.values(encodings)) {
    for (const [name, file] of [["a.csv", content], ["a.csv.gz", gzipSync(content)]] as const) assert.deepEqual((await readFile(name, new Uint8Array(file)))[0]!.grid.rows, rows);
  }
  const sheets = await readFile("a.zip", archive({ "one.csv": text, "read.me": "no", "two.tsv": "a\tb\n1\t2\n" }));
  assert.deepEqual(sheets.map(({ name, grid }) => [name, grid.rows]), [["one.csv", rows], ["two.tsv", [["a", "b"], ["1", "2"]]]]);
});
