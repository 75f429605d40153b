/** Parquet files as tables of text, the form in which every table is read here. */

import { parquetMetadata, parquetRead } from "hyparquet";
import { TableError, type TextTable } from "./csv.ts";

/** Rows up to which a file is read here. */
const MOST_ROWS = 500_000;

export function isParquet(start: Uint8Array): boolean {
  return String.fromCharCode(...start.subarray(0, 4)) === "PAR1";
}

export async function readParquet(buffer: ArrayBuffer): Promise<TextTable> {
  const cure = "save it as CSV, or run recombine explore with its name";
  let rows: Record<string, unknown>[];
  let columns: string[];
  try {
    const metadata = parquetMetadata(buffer);
    if (metadata.num_rows > MOST_ROWS) throw new TableError(`the file has ${metadata.num_rows} rows, more than the page takes; run recombine explore with its name`);
    rows = [];
    await parquetRead({ file: buffer, metadata, rowFormat: "object", onComplete: (found) => (rows = found) });
    columns = rows.length ? Object.keys(rows[0]!) : [];
  } catch (error) {
    if (error instanceof TableError) throw error;
    // Compressed in a way this page does not know, or broken.
    throw new TableError(`the Parquet file cannot be read here (${error instanceof Error ? error.message : String(error)}); ${cure}`);
  }
  if (!rows.length) throw new TableError("the table has no rows");
  return { columns, rows: rows.map((row) => columns.map((name) => textOf(row[name]))) };
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (value instanceof Date) return value.toISOString().slice(0, value.getTime() % 86_400_000 ? 19 : 10);
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
