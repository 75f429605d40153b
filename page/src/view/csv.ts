/** Which columns of a table are what: its missing values, its numbers, its likely factors and outcome. */

import { type Grid, TableError } from "../reading/grid.ts";
import { MOST_LEVELS } from "./scene.ts";

export interface TextTable {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

const MISSING = new Set(["", "na", "n/a", "nan", "null", "none", "-"]);

/** Return a table whose first row names its columns. */
export function tableOf(grid: Grid): TextTable {
  const lines = grid.rows.filter((line) => line.some((field) => field.trim()));
  if (lines.length < 2) throw new TableError("the table has no rows; its first line names the columns, rows follow");
  const columns = lines[0]!.map((name, place) => name.trim() || `column ${place + 1}`);
  const twice = columns.find((name, place) => columns.indexOf(name) !== place);
  if (twice !== undefined) throw new TableError(`two columns are named ${twice}; give each its own name`);
  // A spreadsheet does not say how long its rows are.
  const rows = lines.slice(1).map((row) => (grid.delimiter ? row : columns.map((_, place) => row[place] ?? "")));
  const odd = rows.findIndex((row) => row.length !== columns.length);
  if (odd >= 0) {
    throw new TableError(
      `row ${odd + 1} has ${rows[odd]!.length} fields and the first line ${columns.length}; check separators and quotes`,
    );
  }
  return { columns, rows };
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

/** What is known of a column before anybody says what it is. */
export interface Column {
  readonly name: string;
  /** Different values, missing ones apart. */
  readonly distinct: number;
  readonly missing: number;
  readonly numeric: boolean;
  readonly whole: boolean;
  /** Whether each row has the number after that of the row before. */
  readonly counts: boolean;
}

export function profile(table: TextTable): Column[] {
  return table.columns.map((name, place) => {
    const fields = table.rows.map((row) => row[place]!.trim()).filter((field) => !isMissing(field));
    const numbers = fields.map(numberOf);
    // A number padded with zeros (007) is a label.
    const numeric = numbers.length > 0 && numbers.every(Number.isFinite) && !fields.some((field) => /^0\d/.test(field));
    return {
      name,
      distinct: new Set(fields).size,
      missing: table.rows.length - fields.length,
      numeric,
      whole: numeric && numbers.every(Number.isInteger),
      counts: numbers.length > 3 && numbers.every((number, at) => !at || number === numbers[at - 1]! + 1),
    };
  });
}

const words = (text: string): Set<string> => new Set(text.split(" "));
// The words by which the package knows an outcome, and those of numbers that are none.
const OUTCOMES = words("y outcome target response resp label score rating yield survived survival admit admitted died dead death alive success correct result dv accuracy reward value");
const NAMING = words("id ids subject subj person child student pupil school class classnr mom flight number nr index row rownames code zip plate batch brood household patient");
const BESIDE = words("freq frequency count counts n nobs cases replicates reps sd std stdev stddev");
const SPLITS = words("split fold folds partition subset istrain traintest trainval");
const wordOf = (name: string): string => name.toLowerCase().replace(/[^a-z]/g, "");

/** Numbers with more values than this are measured, not levels. */
const MOST_NUMBERS = 20;
const MOST_GUESSED = 3;

/** Guess which columns are factors and which is the outcome, by the package's rules; a small table gets an outcome sooner than there. */
export function guessRoles(table: TextTable, columns: readonly Column[] = profile(table)): { factors: string[]; outcome: string | null } {
  const outcome = columns.length > 2 ? outcomeOf(columns, table.rows.length) : null;
  const rest = columns.filter(({ name, distinct }) => name !== outcome && distinct > 1 && distinct <= MOST_LEVELS && !SPLITS.has(wordOf(name)));
  const most = Math.max(2, table.rows.length / 2);
  const levels = rest.filter(({ name, distinct, numeric }) => distinct <= most && !(numeric && (distinct > MOST_NUMBERS || BESIDE.has(wordOf(name)))));
  // In a table of few rows labels may all differ; numbers that do were measured.
  const labels = rest.filter((column) => columns.length < 3 || levels.includes(column) || !column.numeric);
  const likely = levels.length > 1 ? levels : labels;
  const ranked = [...likely].sort((one, two) => +one.numeric - +two.numeric || one.distinct - two.distinct);
  const chosen = new Set(ranked.slice(0, MOST_GUESSED));
  return { factors: columns.filter((column) => chosen.has(column)).map(({ name }) => name), outcome };
}

/** The outcome by its name, else the numbers with most values; never one that says which row, or which one, it is. */
function outcomeOf(columns: readonly Column[], rows: number): string | null {
  const numbers = columns.filter(({ numeric, distinct }) => numeric && distinct > 1);
  const place = columns.some(({ name }) => wordOf(name) === "x"); // beside x a y is a place
  const named = numbers.find(({ name }) => OUTCOMES.has(wordOf(name)) && !(place && wordOf(name) === "y"));
  if (named) return named.name;
  const open = numbers.filter(({ name, counts }) => !counts && !saysWhich(name));
  const alone = open.filter(({ name }) => !BESIDE.has(wordOf(name)));
  const sure = alone.filter(({ distinct, whole, missing }) => distinct > 2 && !(whole && distinct + missing >= rows && rows > 3));
  const among = [sure, alone, open].find((some) => some.length) ?? [];
  const most = Math.max(...among.map(({ distinct }) => distinct));
  return among.filter(({ distinct }) => distinct === most).at(-1)?.name ?? null;
}

function saysWhich(name: string): boolean {
  const word = wordOf(name);
  return NAMING.has(word) || (/..id$/.test(word) && word.length > 4 && !/(ac|sol|flu)id$/.test(word));
}
