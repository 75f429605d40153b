/** What every file becomes before it is understood: cells as text. */

export type Row = readonly string[];

/** Rows of cells as text, "" where empty; rows may differ in length. */
export interface Grid {
  readonly rows: readonly Row[];
  /** Merged ranges: top, left, bottom, right, from 0, inclusive. */
  readonly merged: readonly (readonly [number, number, number, number])[];
  /** Lines of the file at which rows begin, from 1; without them row 0 is line 1. */
  readonly lines?: readonly number[];
  /** What stood between the fields of a text. */
  readonly delimiter?: string;
}

/** One fact about how a sheet was read. */
export interface Note {
  readonly kind: string;
  readonly column?: string;
  /** Lines of the file, from 1. */
  readonly lines?: readonly number[];
  readonly values?: readonly string[];
  readonly count?: number;
}

/** Lines and values that one note names, at most; its count tells how many there are. */
export const MOST_NAMED = 20;

/** One of the tables of a file. */
export interface Sheet {
  readonly name: string;
  readonly grid: Grid;
  readonly notes?: readonly Note[];
  /** Why it cannot be read, though others of the file may be. */
  readonly fault?: string;
  /** Whether its first row names columns and nothing is to be tidied, since the file itself says what its values are. */
  readonly plain?: boolean;
}

/** What cannot be read, and what to do. */
export class TableError extends Error {
  override readonly name = "TableError";
}

/** Cells up to which a table is read here. */
export const MOST_CELLS = 5_000_000;

export function widthOf({ rows }: Grid): number {
  return rows.reduce((most, row) => Math.max(most, row.length), 0);
}

export const isBlank = (row: Row): boolean => !row.some(Boolean);
export const isBare = (row: Row): boolean => isBlank(row.slice(1));

/** Return the line of the file that a row begins at. */
export function lineOf({ lines }: Grid, row: number): number {
  return lines?.[row] ?? row + 1;
}

/** Return the rows, all as long as the longest, every merged range holding the text of its first cell; one over all columns is a title. */
export function filled(grid: Grid): string[][] {
  const width = widthOf(grid);
  const rows = grid.rows.map((row) => [...row, ...Array<string>(width - row.length).fill("")]);
  const used = Array.from({ length: grid.merged.length && width }, (_, place) => rows.some((row) => row[place])).filter(Boolean).length;
  for (const [top, left, bottom, right] of grid.merged) {
    if (top >= rows.length || left >= width || (right > left && right - left + 1 >= used)) continue;
    for (const row of rows.slice(top, bottom + 1)) row.fill(rows[top]![left]!, left, right + 1);
  }
  return rows;
}
