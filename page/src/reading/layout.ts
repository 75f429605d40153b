/** Where the table is on a sheet: its header, what stands above and below it, labels that stand for blocks of rows. */

import { isSame, isSummary, placesOver, type Sections, sectionsOf } from "./blocks.ts";
import { filled, type Grid, isBare, isBlank, lineOf, MOST_NAMED, type Note, type Row, TableError, widthOf } from "./grid.ts";
import { isWord, matches, ruleLimit } from "./rules.ts";
import { grouped } from "./sentences.ts";
import { counted, distinct, free, range, strip } from "./texts.ts";
import { unitSpelling } from "./units.ts";
import { TextKinds } from "./values.ts";

/** A table on its way: names, rows and their lines. */
export interface Laid {
  readonly names: readonly string[];
  readonly rows: string[][];
  readonly lines: readonly number[];
  readonly notes: readonly Note[];
  /** Names over groups of columns, "" over none. */
  readonly above: readonly string[];
  readonly factors: readonly string[];
  readonly outcome: string | null;
  /** By column, how many cells had blanks around them. */
  readonly blanks: ReadonlyMap<string, number>;
  /** Columns in which one level stands with them and without. */
  readonly sloppy: ReadonlySet<string>;
}

export const LAID = { notes: [], factors: [], outcome: null, blanks: new Map<string, number>(), sloppy: new Set<string>() } as const;
export const columnOf = ({ rows }: { readonly rows: readonly Row[] }, place: number): string[] => rows.map((row) => row[place]!);

/** Find the table on a sheet: `header` is the line of its header, where that is known. */
export function layOut(grid: Grid, header: number | null = null): Laid {
  if (!grid.rows.some((row) => row.some(Boolean))) throw new TableError("the sheet is empty; it needs a header line and rows");
  const kept = [...grid.rows.keys()].filter((index) => !grid.delimiter || !isDashes(grid.rows[index]!));
  const count = grid.rows.length - kept.length;
  if (count) {
    const sheet = layOut({ ...grid, rows: kept.map((index) => grid.rows[index]!), lines: kept.map((index) => lineOf(grid, index)) }, header);
    return { ...sheet, notes: [...sheet.notes, { kind: "empty", column: "row", count }] };
  }
  const own = ownWidth(grid, header);
  if (own < tableWidth(grid)) {
    const aside = grid.rows.map((row) => row.slice(own));
    const sheet = layOut({ ...grid, rows: grid.rows.map((row) => row.slice(0, own)) }, header);
    return { ...sheet, notes: [...sheet.notes, ...noted(linesNote("beside", grid, aside, [...aside.keys()]))] };
  }
  const raw = filled(grid);
  const rows = raw.map((row) => row.map(strip));
  const width = tableWidth(grid);
  if (header === null) refuseLevels(grid, rows, width);
  const top = header === null ? headerRow(rows, width) : askedRow(grid, header);
  // Some programs write no name over the names of rows, and the others one column too far to the left.
  const shifted = Boolean(grid.delimiter) && grid.rows[top]!.length === width - 1 && rows.slice(top + 1).some((row) => row[width - 1]);
  const fit = range(top + 1, shifted ? rows.length : 0).filter((index) => rows[index]![width - 1]);
  if (distinct(fit.map((index) => rows[index]![0])).length < fit.length) {
    throw new TableError(`line ${grouped(lineOf(grid, fit[0]!))} and others have ${width} fields but the header names ${width - 1} columns: decimal commas without quotes? Write decimal points, or semicolons between the fields`);
  }
  if (shifted) rows[top] = ["", ...rows[top]!.slice(0, -1)];
  const { body, group, hasUnits, sections, unread, empty } = partsOf(grid, rows, top, width);
  refuseRagged(grid, body, width);
  const sheet: Laid = {
    ...LAID,
    names: (rows[top] ?? []).slice(0, width),
    rows: body.map((index) => rows[index]!.slice(0, width)),
    lines: body.map((index) => lineOf(grid, index)),
    notes: noted(
      ...Object.entries(unread).map(([kind, indices]) => linesNote(kind, grid, rows, indices)),
      { kind: "empty", column: "row", count: empty },
      { kind: "renamed", values: ["column0"], count: +shifted },
    ),
    above: group === null ? Array<string>(width).fill("") : spread(rows[group]!.slice(0, width)),
  };
  const named = withNames(withBlanks(sheet, body.map((index) => raw[index]!)));
  const units = hasUnits ? rows[top + 1]!.map((unit, place) => ({ kind: "unit_row", column: rows[top]![place]!, values: [unit], count: +Boolean(unit) })) : [];
  const table = { ...named, notes: [...named.notes, ...noted(...units)] };
  return filledDown(sections ? withSections(table, sections, grid, body) : table);
}

/** Rows by what they are: the body; one of names over groups of columns; of units; names over blocks of rows; by the kind of the note on them those not read; how many are without a cell. */
function partsOf(grid: Grid, rows: readonly Row[], top: number, width: number) {
  const hasUnits = isUnitRow(rows, top);
  // A survey may say below the names that answers follow; or what was asked, and then where each column is from.
  const says = (row: Row = [], least: number, fits: (cell: string) => boolean): boolean => row.filter(Boolean).length >= least && row.every((cell) => !cell || fits(cell));
  const answers = says(rows[top + 1]?.slice(0, width), 2, (cell) => isWord("header_answers", cell));
  const below = top + (says(rows[top + 2], 1, (cell) => matches("import_cell", cell)) ? 3 : 1 + +hasUnits + +answers);
  // Times and temperatures of an instrument, beside rows that are none.
  const set = Math.max(0, rows.slice(below).findIndex(([first = ""]) => !matches("kinetic_row", first)));
  const start = below + (rows.length - below > 2 * set ? set : 0);
  const end = lastRow(rows, start);
  const sections = sectionsOf(rows.map((row) => row.slice(0, width)), top, start, end);
  const over = new Set(sections?.rows);
  const last = sections ? end : nextHeader(rows, top, start, end);
  const full = top > 0 && !over.has(top - 1) && (!grid.delimiter || grid.rows[top - 1]!.length >= width); // a title with a comma has fewer fields
  const group = full && isGroup(rows[top - 1]!.slice(0, width)) ? top - 1 : null;
  const inside = range(start, last);
  const again = inside.filter((index) => isSame(rows[index]!, rows[top]!));
  const there = inside.filter((index) => grid.rows[index]!.length);
  const told = inside.filter((index) => !isBlank(rows[index]!) && !over.has(index) && !isSame(rows[index]!, rows[top]!));
  // Nothing at all is no table to mend; rows that sum up the block above are none of it.
  const [all, sums] = [told.length ? told : there, subtotals(rows, told)];
  const body = all.filter((index) => !sums.includes(index));
  const unread = {
    total_rows: sums,
    title: range(0, group ?? top).filter((index) => !over.has(index)),
    footer: range(last, rows.length),
    settings: range(below, start),
    repeated_header: [...range(hasUnits ? below : top + 1, below), ...again],
  };
  return { body, group, hasUnits, sections, unread, empty: there.length - all.length - again.length - inside.filter((index) => over.has(index)).length };
}

/** The rows of a body that sum up the block above: such a label, and another one blank. */
function subtotals(rows: readonly Row[], body: readonly number[]): number[] {
  const told = body.filter((index) => matches("subtotal", rows[index]![0]!));
  const others = body.filter((index) => !told.includes(index)).map((index) => rows[index]!);
  const full = range(1, rows[0]!.length).filter((place) => others.every((row) => row[place]));
  return told.filter((index) => !full.every((place) => rows[index]![place]));
}

/** Make a column of the names that stand over blocks of rows. */
function withSections(sheet: Laid, { factor, rows, names }: Sections, grid: Grid, body: readonly number[]): Laid {
  const column = free(factor, new Set(sheet.names));
  const over = placesOver(rows, body).map((place) => names[place]!);
  const note = { kind: "section", column, lines: rows.map((row) => lineOf(grid, row)).slice(0, MOST_NAMED), values: names.slice(0, MOST_NAMED), count: rows.length };
  return { ...sheet, names: [column, ...sheet.names], above: ["", ...sheet.above], rows: sheet.rows.map((row, index) => [over[index]!, ...row]), notes: [...sheet.notes, note] };
}

/** Refuse rows of names above one that names the first columns only, as pandas writes columns of several levels. */
function refuseLevels(grid: Grid, rows: readonly Row[], width: number): void {
  const [bare = 0, more] = [...rows.keys()].filter((index) => rows[index]![0] && !rows[index]!.slice(0, width).every(Boolean) && !rows[index]![width - 1]);
  const labels = rows[bare]!.indexOf("");
  const above = rows.slice(0, bare).every((row) => row.slice(labels, width).every(Boolean) && !row.slice(1, labels).some(Boolean));
  if (more || (bare !== 2 && bare !== 3) || !above || distinct(rows[0]!.slice(labels, width)).length === width - labels) return;
  throw new TableError(`${bare} rows of names stand above line ${lineOf(grid, bare)}, as pandas writes columns of several levels; save it with one, after df.stack() or with joined names, and reset_index()`);
}

/** Notes without those about nothing. */
export const noted = (...notes: readonly Note[]): Note[] => notes.filter(({ count }) => count);

/** How many columns the table has: as many fields as most lines of a text file have. */
function tableWidth(grid: Grid): number {
  if (!grid.delimiter) return widthOf(grid);
  const lengths = [...counted(grid.rows.filter((row) => row.some(strip)).map((row) => row.length))];
  return lengths.reduce((best, one) => (one[1] > best[1] || (one[1] === best[1] && one[0] > best[0]) ? one : best), [0, 0])[0];
}

/** Whether a line only rules off others, as programs of databases write one below the names. */
const isDashes = ([first = "", ...others]: Row): boolean => "-+".includes(strip(first)[0] ?? " ") && matches("dashes", first + others.join(""));

/** How many columns belong to the table: beside it, nearly empty columns without a name do not. */
function ownWidth(grid: Grid, header: number | null): number {
  const [width, rows] = [tableWidth(grid), filled(grid)];
  const counts = range(0, width).map((place) => rows.filter((row) => row[place]).length);
  const least = ruleLimit("share of cells of a column beside the table") * Math.max(...counts);
  const own = width - [...counts].reverse().findIndex((count) => count >= least);
  if (own < 2 || !counts.slice(own).some(Boolean)) return width;
  const top = header === null ? headerRow(rows, own) : askedRow(grid, header);
  if (grid.delimiter && grid.rows[top]!.length < width) return width;
  return range(own, width).find((place) => !rows[top]![place]) ?? width;
}

function askedRow(grid: Grid, line: number): number {
  const found = grid.rows.findIndex((_, index) => lineOf(grid, index) === line);
  if (found < 0) throw new TableError(`the sheet has no line ${line}; name the line of the header`);
  return found;
}

/** The first row that names nearly all columns with cells below it, or the first that is not blank. */
function headerRow(rows: readonly Row[], width: number): number {
  const there = [...rows.keys()].filter((index) => !isBlank(rows[index]!));
  const lasts = range(0, width).map((place) => there.filter((index) => rows[index]![place]).at(-1) ?? -1);
  for (const index of there.slice(0, ruleLimit("rows searched for the header"))) {
    const row = rows[index]!.slice(0, width);
    const used = range(0, width).filter((place) => lasts[place]! > index);
    const named = row.filter(Boolean);
    const unnamed = used.filter((place) => !row[place]);
    const most = used.length - unnamed.length >= Math.max(2, ruleLimit("share of columns that a header names") * used.length);
    const full = most || (used.length > 1 && unnamed.length === 1 && unnamed[0] === 0) || (width < 2 && named.length > 0);
    const below = rows[index + 1]?.slice(0, width) ?? [];
    if (full && !isBlank(below) && (distinct(named).length === named.length || !isHeader(row, below, used))) return index && isMeasured(rows[index - 1]!.slice(0, width), row) ? index - 1 : index;
  }
  return there[0] ?? 0;
}

/** Whether a row holds numbers behind a label, below one that names the labels and half of the columns. */
function isMeasured(above: Row, [, ...cells]: Row): boolean {
  const named = above.filter(Boolean);
  return Boolean(above[0]) && distinct(named).length === named.length && 2 * named.length >= above.length && above.length > 2 && cells.every(isNumber) && cells.some((cell) => cell.includes("."));
}

/** Where another table begins below the first: in a row that names two columns as the header does, or below a blank row in one of new texts with a number below. */
function nextHeader(rows: readonly Row[], top: number, first: number, last: number): number {
  const differs = (index: number): boolean => rows[index]!.some((cell, place) => cell !== rows[top]![place]);
  const found = range(first, last).find((index) => {
    if (index > first && isBare(rows[index - 1]!) && differs(index) && namesOthers(rows, first, index)) return true;
    const same = rows[index]!.filter((cell, place) => cell && cell === rows[top]![place]).length;
    return same > 1 && 2 * same >= rows[index]!.filter(Boolean).length && differs(index);
  });
  let end = found ?? last;
  if (found !== undefined && namesOthers(rows, first, found)) while (end && isBare(rows[end - 1]!)) end--;
  return end;
}

/** Whether a row holds texts that stand nowhere above in their columns, with a number below one of them. */
function namesOthers(rows: readonly Row[], first: number, index: number): boolean {
  const places = [...rows[index]!.keys()].filter((place) => rows[index]![place]);
  const texts = places.length > 1 && new TextKinds(places.map((place) => rows[index]![place]!)).others.size === distinct(places.map((place) => rows[index]![place])).length;
  return texts && !rows.slice(first, index).every(isBare) && places.some((place) => isNumber(rows[index + 1]?.[place] ?? "")) && !rows.slice(first, index).some((row) => places.some((place) => row[place] === rows[index]![place]));
}

/** Whether a row below one with repeated names could be the header itself: all columns named, by it or alone above; the row above says of the first nothing or, merged, the same. */
function isHeader(above: Row, row: Row, used: readonly number[]): boolean {
  const measured = row.some((cell) => cell.includes(".") && isNumber(cell));
  const alone = counted(above);
  const named = used.every((place) => row[place] || (above[place] && alone.get(above[place]!) === 1));
  return named && (!row[0] || !above[0] || above[0] === row[0]) && !isNumber(row[0]!) && !measured;
}

const isNumber = (cell: string): boolean => new TextKinds([cell]).numbers.size > 0;

/** Whether a row above the header names groups of columns: not all of them, or some twice; not the first alone. */
const isGroup = (row: Row): boolean => row.slice(1).some(Boolean) && (!row.every(Boolean) || distinct(row).length < row.length);

function spread(row: Row): string[] {
  const result: string[] = [];
  for (const cell of row) result.push(cell || (result.at(-1) ?? ""));
  return result;
}

/** Whether the row below the header holds units: of columns of numbers, with the others blank. */
function isUnitRow(rows: readonly Row[], top: number): boolean {
  if (top + 2 >= rows.length) return false;
  const cells = rows[top + 1]!.flatMap((cell, place) => (cell ? [[place, cell] as const] : []));
  const below = rows.slice(top + 2, top + 52);
  const measured = cells.filter(([place]) => {
    const { numbers, counts } = new TextKinds(columnOf({ rows: below }, place));
    return numbers.size || !counts.size;
  });
  return measured.length > 0 && cells.every((cell) => matches("unit_cell", cell[1]) || (measured.includes(cell) && (unitSpelling(cell[1]) || cell[1] === "%")));
}

/** The row from which on there are totals and footnotes only. */
function lastRow(rows: readonly Row[], first: number): number {
  let start = rows.length;
  while (start > first && (isBare(rows[start - 1]!) || isTotal(rows, start - 1))) start--;
  if ((rows[0]?.length ?? 0) < 2) return rows.length;
  for (let index = start; index < rows.length; index++) {
    if (!isBlank(rows[index]!) && !isTotal(rows, index) && !matches("footnote", [...rows[index]![0]!].slice(0, 200).join(""))) continue;
    // Blank lines at the very end are no footer.
    return rows.slice(index).some((row) => !isBlank(row)) ? index : rows.length;
  }
  return rows.length;
}

/** Whether a row says a total: such a word in its first cell, no other label, and no such level further up. */
function isTotal(rows: readonly Row[], index: number): boolean {
  const [label = "", ...cells] = rows[index]!;
  if (!isSummary(label) || !cells.some(Boolean)) return false;
  const before = rows.slice(0, index).some((row) => row[0] === label && !isBare(row));
  const full = cells.every(Boolean) && cells.length > 1 && rows.slice(Math.max(0, index - 5), index).every((row) => row[0]);
  return !new TextKinds(cells.filter((cell) => !isWord("all_levels", cell))).others.size && !before && (!full || addsUp(rows, index));
}

/** Whether a row without a blank cell has no second label: its cells are those of numbers above. */
function addsUp(rows: readonly Row[], index: number): boolean {
  const above = rows.slice(Math.max(0, index - 50), index);
  return range(1, rows[index]!.length).every((place) => isWord("all_levels", rows[index]![place]!) || new TextKinds(columnOf({ rows: above }, place)).numbers.size > 2);
}

function refuseRagged(grid: Grid, body: readonly number[], width: number): void {
  const odd = grid.delimiter ? body.find((index) => grid.rows[index]!.length < width || grid.rows[index]!.slice(width).some(strip)) : undefined;
  if (odd === undefined) return;
  const count = grid.rows[odd]!.length;
  throw new TableError(`line ${grouped(lineOf(grid, odd))} has ${count} field${count > 1 ? "s" : ""} but the header names ${width} columns; correct that line`);
}

export function linesNote(kind: string, grid: Grid, rows: readonly Row[], indices: readonly number[]): Note {
  const there = indices.filter((index) => !isBlank(rows[index]!));
  const some = there.slice(0, MOST_NAMED);
  return { kind, lines: some.map((index) => lineOf(grid, index)), values: some.map((index) => rows[index]!.find(Boolean)!), count: there.length };
}

/** Leave out columns without a name and a cell; names over groups that have no other below become names. */
function withNames(sheet: Laid): Laid {
  const hasCell = sheet.names.map((_, place) => sheet.rows.some((row) => row[place]));
  const places = range(0, sheet.names.length).filter((place) => sheet.names[place] || hasCell[place]);
  const alone = counted(sheet.above);
  const [names, above] = [[...sheet.names], [...sheet.above]];
  for (const place of places) if (!names[place] && alone.get(above[place]!) === 1) [names[place], above[place]] = [above[place]!, ""];
  const count = names.length - places.length;
  const kept = <T>(row: readonly T[]): T[] => places.map((place) => row[place]!);
  return { ...sheet, names: kept(names), above: kept(above), rows: count ? sheet.rows.map(kept) : sheet.rows, notes: [...sheet.notes, ...noted({ kind: "empty", column: "column", count })] };
}

/** Count the cells that had blanks around them. */
function withBlanks(sheet: Laid, raw: readonly Row[]): Laid {
  const [blanks, sloppy] = [new Map<string, number>(), new Set<string>()];
  sheet.names.forEach((name, place) => {
    const cells = raw.map((row) => row[place]!);
    const padded = cells.filter((cell) => cell !== strip(cell));
    if (!padded.length) return;
    blanks.set(name, padded.length);
    const plain = new Set(cells);
    if (padded.some((cell) => strip(cell) && plain.has(strip(cell)))) sloppy.add(name);
  });
  return { ...sheet, blanks, sloppy };
}

/** Carry labels down that stand in the first row of a block only, column by column from the left. */
function filledDown(laid: Laid): Laid {
  const sheet = withoutDittos(laid);
  let count = 0;
  while (count < sheet.names.length - 1 && standsForBlocks(columnOf(sheet, count), sheet.rows, count)) count++;
  // The last label stands in every row.
  if (!count || columnOf(sheet, count).includes("")) return sheet;
  const notes = range(0, count).map((place) => ({ kind: "merged", column: sheet.names[place]!, count: columnOf(sheet, place).filter((cell) => !cell).length }));
  const rows: string[][] = [];
  for (const row of sheet.rows) rows.push(row.map((cell, place) => cell || (place < count ? (rows.at(-1)?.[place] ?? "") : "")));
  return { ...sheet, rows, notes: [...sheet.notes, ...notes] };
}

/** Read marks of repetition as the cell above them. */
function withoutDittos(sheet: Laid): Laid {
  const rows = sheet.rows.map((row) => [...row]);
  const notes = sheet.names.map((column, place) => {
    const marked = rows.filter((row) => isWord("dittos", row[place]!));
    const count = rows[0] === marked[0] ? 0 : marked.length;
    if (count) rows.forEach((row, index) => marked.includes(row) && (row[place] = rows[index - 1]![place]!));
    return { kind: "merged", column, count };
  });
  const found = noted(...notes);
  return found.length ? { ...sheet, rows, notes: [...sheet.notes, ...found] } : sheet;
}

/** Whether blanks of a column continue a block: a filled cell says something new, or begins a block to its left. */
function standsForBlocks(cells: Row, rows: readonly Row[], place: number): boolean {
  const blank = cells.filter((cell) => !cell).length;
  if (!cells[0] || !blank) return false;
  const { numbers } = new TextKinds(cells);
  if (numbers.size > ruleLimit("levels of numbers in a column of blocks, at most")) return false;
  if (!place && blank < ruleLimit("share of blank cells of a column of blocks") * cells.length) return false;
  let before = "";
  for (const [index, cell] of cells.entries()) {
    const begins = rows[index]!.slice(0, place).some(Boolean);
    if ((begins && !cell) || (cell && cell === before && !begins) || !rows[index]!.slice(place + 1).some(Boolean)) return false;
    before = cell || before;
  }
  return true;
}
