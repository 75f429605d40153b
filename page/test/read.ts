/** What the page makes of tables, for whoever asks: questions as JSON on stdin, answers as JSON on stdout. */

import { readFileSync } from "node:fs";
import { readFile } from "../src/reading/files.ts";
import { TableError } from "../src/reading/grid.ts";
import { type Note, readingSentence } from "../src/reading/sentences.ts";

interface Question {
  /** A file, whose sheets are wanted. */
  readonly file?: string;
  /** A note, whose sentence is wanted. */
  readonly note?: Note;
}

async function answer({ file, note }: Question): Promise<unknown> {
  try {
    if (note) return readingSentence(note);
    if (file) return await readFile(file.replace(/.*\//, ""), readFileSync(file));
    return null;
  } catch (error) {
    if (error instanceof TableError) return { refusal: error.message };
    throw error;
  }
}

const questions = JSON.parse(readFileSync(0, "utf8")) as Question[];
console.log(JSON.stringify(await Promise.all(questions.map(answer))));
