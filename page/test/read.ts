/** What the page makes of tables, for whoever asks: questions as JSON on stdin, answers as JSON on stdout. */

import { readFileSync } from "node:fs";
import { readFile } from "../src/reading/files.ts";
import { type Grid, type Note, TableError } from "../src/reading/grid.ts";
import { proposeRoles } from "../src/reading/roles.ts";
import { matched } from "../src/reading/rules.ts";
import { readingSentence } from "../src/reading/sentences.ts";
import { readSheet, tidy } from "../src/reading/tidy.ts";

interface Question {
  /** A file, whose sheets are wanted. */
  readonly file?: string;
  /** Whether its table is wanted, which a text has one of. */
  readonly table?: boolean;
  /** Whether the roles of its columns are, as the layout tells them or as they are guessed. */
  readonly roles?: boolean;
  /** A note, whose sentence is wanted. */
  readonly note?: Note;
  /** A sheet, whose table is wanted. */
  readonly grid?: Grid;
  readonly wide?: string;
  readonly header?: number;
  /** A pattern of the rules, whose groups in each text are wanted. */
  readonly pattern?: Parameters<typeof matched>[0];
  readonly texts?: readonly string[];
  /** A plain table, whose roles are wanted. */
  readonly columns?: readonly string[];
  readonly rows?: readonly (readonly string[])[];
}

async function answer({ file, table, roles, note, grid, wide, header, pattern, texts = [], columns, rows = [] }: Question): Promise<unknown> {
  try {
    if (pattern) return texts.map((text) => matched(pattern, text)).map((found) => found && Array.from(found, (group) => group ?? null));
    if (columns) return proposeRoles(columns, rows);
    if (note) return readingSentence(note);
    const sheets = file ? await readFile(file.replace(/.*\//, ""), readFileSync(file)) : [];
    if (roles) {
      const found = readSheet(sheets[0]!, wide ?? null);
      return found.factors.length ? { factors: found.factors, columns: { outcome: found.outcome }, candidates: [] } : proposeRoles(found.columns, found.rows);
    }
    if (table) return readSheet(sheets[0]!, wide ?? null);
    if (file) return sheets;
    return grid ? tidy(grid, wide, header) : null;
  } catch (error) {
    if (error instanceof TableError) return { refusal: error.message };
    throw error;
  }
}

const questions = JSON.parse(readFileSync(0, "utf8")) as Question[];
console.log(JSON.stringify(await Promise.all(questions.map(answer))));
