/** A sheet as people send it becomes a plain table: one header, one row for each measurement, plain numbers. */

import { isTotal, rowsOfTotals } from "./blocks.ts";
import { type Grid, MOST_NAMED, type Note, type Sheet, TableError } from "./grid.ts";
import { readLabels } from "./labels.ts";
import { columnOf, type Laid, layOut, noted } from "./layout.ts";
import { decimalSign, knownSign, readNumbers } from "./numerals.ts";
import { readPlates } from "./plates.ts";
import { ruleLimit } from "./rules.ts";
import { distinct, free } from "./texts.ts";
import { type Column, noteOn, TextKinds } from "./values.ts";
import { melted, refuseTwice, turned } from "./wide.ts";

/** A plain table: rows as long as the header with "" where nothing was measured. */
export interface Tidy {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly notes: readonly Note[];
  /** Those that the layout itself tells, of a wide table or of plates. */
  readonly factors: readonly string[];
  readonly outcome: string | null;
}

/** Return the table of a sheet; one of a file that says itself what its values are is taken as it is. */
export function readSheet({ grid, plain, notes = [], fault }: Sheet, wide: string | null = null): Tidy {
  if (fault) throw new TableError(fault);
  if (plain) return { columns: grid.rows[0]!, rows: grid.rows.slice(1), notes, factors: [], outcome: null };
  const table = tidy(grid, wide);
  if (!table.rows.length) throw new TableError("the table has no rows; its first line names the columns, rows follow");
  refuseTwice(table.columns);
  return { ...table, notes: [...notes, ...table.notes] };
}

/** Make a plain table of a sheet, of which a clean one is what it was. */
export function tidy(grid: Grid, wide: string | null = null, header: number | null = null): Tidy {
  const plates = wide === null && header === null ? readPlates(grid) : null;
  const delimiter = grid.delimiter ?? "";
  return withValues(plates ?? melted(turned(layOut(grid, header)), wide, delimiter), delimiter);
}

/** Read the cells of each column. */
function withValues(sheet: Laid, delimiter: string): Tidy {
  const names = uniqueNames(sheet.names);
  const columns = names.map((name, place): Column => {
    const cells = columnOf(sheet, place);
    return { name, cells, lines: sheet.lines, kinds: new TextKinds(cells) };
  });
  const numeric = columns.filter(({ kinds, name }) => kinds.areNumbers(name === sheet.outcome));
  const known = knownSign(numeric.map(({ kinds }) => kinds), delimiter);
  const most = numeric.reduce((count, { kinds }) => Math.max(count, kinds.numbers.size), 0);
  const measured = numeric.filter(({ kinds }) => kinds.numbers.size === most).at(-1)?.name;
  const notes = [...sheet.notes];
  columns.forEach((column, place) => {
    const { kinds, name } = column;
    const sign = decimalSign(kinds, delimiter, known);
    const many = kinds.numbers.size > ruleLimit("distinct numbers of a measured column with a unit");
    const keep = name !== sheet.outcome && !many && name !== measured;
    const own = sheet.names[place]!;
    const [texts, more] = numeric.includes(column) && sign ? readNumbers(column, delimiter, sign, known, keep) : readLabels(column, sheet.sloppy.has(own));
    if (sheet.blanks.get(own)) notes.push({ kind: "blanks", column: name, count: sheet.blanks.get(own)! });
    notes.push(...more);
    if (texts.size) for (const row of sheet.rows) row[place] = texts.get(row[place]!) ?? row[place]!;
  });
  const isMeasured = columns.map((column) => numeric.includes(column) && column.kinds.measured);
  const { rows, notes: told } = withoutTotals({ ...sheet, names, notes }, isMeasured);
  return { columns: names, rows, notes: told, factors: sheet.factors.map((name) => names[sheet.names.indexOf(name)]!), outcome: sheet.outcome };
}

/** Leave out rows that sum up or average others and say so; note them, and levels that look like it. */
function withoutTotals(sheet: Laid, isMeasured: readonly boolean[]): Laid {
  const columns = sheet.names.map((name, place) => ({ name, place, cells: columnOf(sheet, place), lines: sheet.lines }));
  const labels = columns.filter(({ place }) => !isMeasured[place]);
  const { sums, levels } = rowsOfTotals(labels.map(({ cells }) => cells), columns.filter(({ place }) => isMeasured[place]).map(({ cells }) => cells));
  const told = labels.flatMap((column, at) => [...levels[at]!].sort().map((level) => noteOn({ ...column, kinds: new TextKinds(column.cells) }, "total_level", new Set([level]), true)));
  const rows = sheet.rows.filter((_, index) => !sums.has(index));
  const there = (note: Note): boolean => note.kind !== "total_level" || rows.some((row) => note.values!.includes(row[sheet.names.lastIndexOf(note.column!)]!));
  const at = [...sums].sort((one, other) => one - other);
  const values = distinct(at.map((index) => labels.map(({ cells }) => cells[index]!).find(isTotal) ?? ""));
  const note = { kind: "total_rows", lines: at.map((index) => sheet.lines[index]!).slice(0, MOST_NAMED), values: values.slice(0, MOST_NAMED), count: at.length };
  return { ...sheet, rows, notes: [...(at.length ? sheet.notes.filter(there) : sheet.notes), ...noted(note), ...told] };
}

/** Names of columns, those without one called column0 and so on by their place. */
function uniqueNames(names: readonly string[]): string[] {
  const taken = new Set(names);
  return names.map((name, place) => name || free(`column${place}`, taken));
}
