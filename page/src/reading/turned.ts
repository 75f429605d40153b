/** Tables that lie on their side: each row is a variable. */

import { MOST_NAMED } from "./grid.ts";
import { LAID, type Laid } from "./layout.ts";
import { distinct } from "./texts.ts";
import { TextKinds } from "./values.ts";

/** Exchange rows and columns where the first column holds the names of variables. */
export function turned(sheet: Laid): Laid {
  const rows = [sheet.names, ...sheet.rows];
  if (!liesOnItsSide(sheet, rows)) return sheet;
  const names = rows.map((row) => row[0]!);
  const columns = sheet.names.slice(1).map((_, place) => rows.map((row) => row[place + 1]!));
  return {
    ...LAID,
    names,
    rows: columns,
    lines: columns.map(() => sheet.lines[0]! - 1),
    above: names.map(() => ""),
    notes: [...sheet.notes, { kind: "transposed", values: names.slice(0, MOST_NAMED), count: names.length }],
  };
}

/** Whether each row is of one kind and columns are mixed, or the names of columns repeat as levels do. */
function liesOnItsSide(sheet: Laid, rows: readonly (readonly string[])[]): boolean {
  const names = rows.map((row) => row[0]!);
  if (rows.length < 2 || sheet.names.length < 4 || !names.every(Boolean) || distinct(names).length < names.length || sheet.above.some(Boolean)) return false;
  if (rows.length >= sheet.names.length) return false;
  const kinds = rows.map((row) => new TextKinds(row.slice(1)));
  const oneKind = kinds.every(({ others, numbers }) => !others.size || !numbers.size);
  if (!oneKind || new TextKinds(names).numbers.size || !kinds.slice(1).some(({ numbers }) => numbers.size)) return false;
  const named = sheet.names.filter(Boolean);
  return distinct(named).length < named.length || kinds.slice(1).some(({ others }) => others.size);
}
