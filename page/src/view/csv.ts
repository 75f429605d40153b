/** Tables as text: fields apart by comma, semicolon, tab or bar; quotes as in RFC 4180. */

export interface TextTable {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** What cannot be read, and what to do. */
export class TableError extends Error {
  override readonly name = "TableError";
}

const MISSING = new Set(["", "na", "n/a", "nan", "null", "none", "-"]);

/** Return a table whose first line names its columns. */
export function readCsv(text: string): TextTable {
  const clean = text.replace(/^\uFEFF/, "");
  const mark = separatorOf(clean);
  const lines = split(clean, mark).filter((line) => line.length > 1 || line[0]!.trim());
  if (lines.length < 2) throw new TableError("the table has no rows; its first line names the columns, rows follow");
  const columns = lines[0]!.map((name, place) => name.trim() || `column ${place + 1}`);
  const twice = columns.find((name, place) => columns.indexOf(name) !== place);
  if (twice !== undefined) throw new TableError(`two columns are named ${twice}; give each its own name`);
  const rows = lines.slice(1);
  const odd = rows.findIndex((row) => row.length !== columns.length);
  if (odd >= 0) {
    throw new TableError(
      `row ${odd + 1} has ${rows[odd]!.length} fields and the first line ${columns.length}; check separators and quotes`,
    );
  }
  return { columns, rows };
}

/** The separator that is most frequent in the first line, outside quotes. */
function separatorOf(text: string): string {
  const head = text.slice(0, text.search(/[\r\n]|$/)).replace(/"[^"]*"/g, "");
  const counts = [",", ";", "\t", "|"].map((mark) => [head.split(mark).length, mark] as const);
  return counts.reduce((best, one) => (one[0] > best[0] ? one : best))[1];
}

function split(text: string, mark: string): string[][] {
  const lines: string[][] = [];
  let line: string[] = [];
  let field = "";
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const letter = text[at]!;
    if (quoted) {
      if (letter !== '"') field += letter;
      else if (text[at + 1] === '"') {
        field += '"';
        at++;
      } else quoted = false;
    } else if (letter === '"' && !field) quoted = true;
    else if (letter === mark) {
      line.push(field);
      field = "";
    } else if (letter === "\n" || letter === "\r") {
      if (letter === "\r" && text[at + 1] === "\n") at++;
      lines.push([...line, field]);
      line = [];
      field = "";
    } else field += letter;
  }
  if (quoted) throw new TableError("a quote is opened and never closed; check the quotes");
  if (field || line.length) lines.push([...line, field]);
  return lines;
}

export function isMissing(field: string): boolean {
  return MISSING.has(field.trim().toLowerCase());
}

/** Return a field as a number, NaN if it is none; 1,5 is one and a half where commas separate nothing. */
export function numberOf(field: string): number {
  if (isMissing(field)) return NaN;
  const text = field.trim();
  return Number(/^[-+]?\d+,\d+$/.test(text) ? text.replace(",", ".") : text);
}

/** Columns that can be factors, and the one that is most likely the outcome: numbers with many values. */
export function guessRoles(table: TextTable): { factors: string[]; outcome: string | null } {
  const kinds = table.columns.map((name, place) => {
    const fields = table.rows.map((row) => row[place]!).filter((field) => !isMissing(field));
    const distinct = new Set(fields).size;
    const numeric = fields.length > 0 && fields.every((field) => Number.isFinite(numberOf(field)));
    return { name, distinct, measure: numeric && (distinct > 20 || fields.some((field) => /\d[.,]\d/.test(field))) };
  });
  const outcome = kinds.find((kind) => kind.measure) ?? null;
  const factors = kinds.filter((kind) => kind !== outcome && !kind.measure && kind.distinct > 1);
  const few = factors.filter((kind) => kind.distinct <= 100).sort((one, two) => one.distinct - two.distinct);
  const chosen = new Set(few.slice(0, 3).map((kind) => kind.name));
  return {
    factors: table.columns.filter((name) => chosen.has(name)),
    outcome: outcome?.name ?? null,
  };
}
