/** Parquet files as sheets of text, the form in which every table is read here. */

// Only what reads a whole file: the package's own readParquet brings filters, indexes and plans of what not to read.
import { readColumn } from "hyparquet/src/column.js";
import { DEFAULT_PARSERS as parsers } from "hyparquet/src/convert.js";
import { parquetMetadata } from "hyparquet/src/metadata.js";
import { getSchemaPath } from "hyparquet/src/schema.js";
import { type Sheet, TableError } from "./grid.ts";

/** Rows up to which a file is read here. */
const MOST_ROWS = 500_000;

export function readParquet(buffer: ArrayBuffer): Sheet {
  const cure = "save it as CSV, or run recombine explore with its name";
  try {
    const { num_rows: rows, schema, row_groups: groups } = parquetMetadata(buffer);
    if (rows > MOST_ROWS) throw new TableError(`the file has ${rows} rows, more than the page takes; run recombine explore with its name`);
    if (!rows) throw new TableError("the table has no rows");
    const columns = new Map<string, string[]>();
    for (const group of groups) {
      const count = Number(group.num_rows);
      for (const { meta_data: meta } of group.columns) {
        // Lists and records have no levels, so their columns are left out.
        if (!meta || meta.path_in_schema.length > 1) continue;
        const schemaPath = getSchemaPath(schema, meta.path_in_schema);
        const start = Number(meta.dictionary_page_offset || meta.data_page_offset);
        const reader = { view: new DataView(buffer, start, Number(meta.total_compressed_size)), offset: 0 };
        const decoder = { pathInSchema: meta.path_in_schema, element: schemaPath.at(-1)!.element, schemaPath, parsers, ...meta };
        const { data } = readColumn(reader, { groupStart: 0, selectStart: 0, selectEnd: count, groupRows: count }, decoder);
        const fields = columns.get(meta.path_in_schema[0]!) ?? [];
        columns.set(meta.path_in_schema[0]!, fields);
        for (const chunk of data) for (const value of chunk) fields.push(textOf(value));
      }
    }
    const names = [...columns.keys()];
    const fields = Array.from({ length: Number(rows) }, (_, row) => names.map((name) => columns.get(name)![row] ?? ""));
    return { name: "", grid: { rows: [names, ...fields], merged: [] }, plain: true };
  } catch (error) {
    if (error instanceof TableError) throw error;
    // Compressed in a way this page does not know, or broken.
    throw new TableError(`the Parquet file cannot be read here (${error instanceof Error ? error.message : String(error)}); ${cure}`);
  }
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (value instanceof Date) return value.toISOString().slice(0, value.getTime() % 86_400_000 ? 19 : 10);
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
