/** Which kind of file it is, by its first bytes; every kind becomes sheets. */

import { type Sheet, TableError } from "./grid.ts";
import { readParquet } from "./parquet.ts";
import { decode, gridOfText } from "./text.ts";
import { readXlsx } from "./xlsx.ts";
import { entriesOf, inflate, unpack } from "./zip.ts";

/** Kinds that only the program reads, by their first bytes. */
const ELSEWHERE = { "\x89HDF": "an HDF5 file", SQLi: "an SQLite file", ARRO: "a Feather file" } as const;
const TEXT = /\.(csv|tsv|tab|txt)$/i;

/** Return the sheets of a file; a text is one. */
export async function readFile(name: string, bytes: Uint8Array): Promise<Sheet[]> {
  const start = String.fromCharCode(...bytes.subarray(0, 4));
  const command = `run: recombine explore ${name}`;
  if (start === "PAR1") return [readParquet(bytes.slice().buffer)];
  if (start.startsWith("\x1f\x8b")) return readFile(name.replace(/\.gz$/i, ""), await inflate(bytes, "gzip"));
  if (start === "PK\x03\x04") return readArchive(name, bytes, command);
  if (start === "\xd0\xcf\x11\xe0") {
    const cure = /\.xlsx$/i.test(name) ? "is locked by a password; save it without one" : `is an old Excel file, which the page does not read; save it as .xlsx, or ${command}`;
    throw new TableError(`${name} ${cure}`);
  }
  const other = ELSEWHERE[start as keyof typeof ELSEWHERE];
  if (other) throw new TableError(`${name} is ${other}, which the page does not read; ${command}`);
  const text = decode(bytes);
  if (/^\s*(\[\s*)?\{/.test(text)) throw new TableError(`${name} is JSON, which the page does not read; ${command}`);
  return [{ name, grid: gridOfText(text, name) }];
}

/** A workbook, or texts that were packed together. */
async function readArchive(name: string, bytes: Uint8Array, command: string): Promise<Sheet[]> {
  const entries = entriesOf(bytes);
  if (entries.has("[Content_Types].xml")) return readXlsx(bytes);
  const texts = [...entries].filter(([path]) => TEXT.test(path) && !path.startsWith("__MACOSX/"));
  if (!texts.length) throw new TableError(`${name} holds no table that the page reads; save it as .xlsx or CSV, or ${command}`);
  return Promise.all(texts.map(async ([path, entry]) => ({ name: path, grid: gridOfText(decode(await unpack(bytes, entry)), path) })));
}
