/** How a table was read, and which of its columns are what: told before it is shown, and kept beside the grid. */

import * as phrases from "../generated/phrases.json";
import { type Sheet, TableError } from "../reading/grid.ts";
import { plural, readingSentence } from "../reading/sentences.ts";
import { readSheet, type Tidy } from "../reading/tidy.ts";
import { guessRoles } from "./csv.ts";
import { button, byId, make } from "./elements.ts";
import { type Factor, MOST_LEVELS } from "./scene.ts";
import type { Store } from "./store.ts";
import { type Reading, sceneOfTable } from "./tables.ts";
import { say } from "./words.ts";

export function faultLine(): HTMLElement {
  const fault = make("p", "fault");
  fault.setAttribute("role", "alert");
  return fault;
}

/** The first sheet that holds a table, which need not be the first. */
function firstTable(sheets: readonly Sheet[]): number {
  const wide = sheets.findIndex(({ grid: { rows } }) => rows.length > 1 && rows.some((row) => row.length > 1));
  return Math.max(wide, 0);
}

/** Ask which columns are factors and which is the outcome; what was guessed is marked. */
export function askRoles(sheets: readonly Sheet[], dialog: HTMLDialogElement, store: Store, at = firstTable(sheets), wide: string | null = null): void {
  const table = readSheet(sheets[at]!, wide);
  const guess = guessRoles(table);
  const fault = faultLine();
  const attempt = (act: () => void): void => {
    fault.textContent = "";
    try {
      act();
    } catch (error) {
      if (!(error instanceof TableError)) throw error;
      fault.textContent = error.message;
    }
  };
  const boxes = table.columns.map((name) => {
    const box = make("input");
    box.type = "checkbox";
    box.checked = guess.factors.includes(name);
    return box;
  });
  const outcome = optionsOf(["none: verdicts only", ...table.columns.map((name) => (name === guess.outcome ? `${name} (guessed)` : name))]);
  outcome.selectedIndex = guess.outcome === null ? 0 : table.columns.indexOf(guess.outcome) + 1;
  const used = make("p", "used");
  used.setAttribute("role", "status");
  const nevertheless = make("input");
  nevertheless.type = "checkbox";
  const doubt = make("label", "doubt", nevertheless, phrases.nevertheless);
  const chosen = (): Reading => {
    const target = table.columns[outcome.selectedIndex - 1] ?? null;
    return sceneOfTable(table, table.columns.filter((name, place) => boxes[place]!.checked && name !== target), target);
  };
  const tell = (): void => attempt(() => {
    [used.textContent, doubt.hidden] = ["", true];
    const reading = chosen();
    used.textContent = usedSentence(reading);
    doubt.hidden = 2 * reading.used >= reading.rows;
  });
  const show = (): void => attempt(() => {
    const reading = chosen();
    if (2 * reading.used < reading.rows && !nevertheless.checked) throw new TableError(say(phrases.underHalf, { used: reading.used, rows: reading.rows }));
    keepBeside(store, reading, table);
    store.commit(reading.scene);
    dialog.close();
  });
  for (const input of [...boxes, outcome]) input.addEventListener("change", tell);
  const sheet = optionsOf(sheets.map(({ name }) => name));
  sheet.selectedIndex = at;
  sheet.addEventListener("change", () => attempt(() => askRoles(sheets, dialog, store, sheet.selectedIndex)));
  dialog.replaceChildren(
    make("h2", "", `${plural(table.rows.length, "row")}, ${plural(table.columns.length, "column")}`),
    ...(sheets.length > 1 ? [make("p", "row", make("label", "", "Sheet ", sheet))] : []),
    ...(table.notes.length ? [make("details", "read", make("summary", "", "How it was read"), notesOf(table))] : []),
    make("fieldset", "", make("legend", "", "Factors"), ...table.columns.map((name, place) => boxLine(name, boxes[place]!, table))),
    make("p", "row", make("label", "", "Outcome ", outcome)),
    used,
    doubt,
    fault,
    make("div", "bar", button("Show it", show, "lead"), button("Cancel", () => dialog.close())),
  );
  dialog.querySelector("details")?.setAttribute("open", "");
  tell();
  if (!dialog.open) dialog.showModal();
}

function optionsOf(texts: readonly string[]): HTMLSelectElement {
  return make("select", "", ...texts.map((text) => make("option", "", text)));
}

function boxLine(name: string, box: HTMLInputElement, table: Tidy): HTMLElement {
  const levels = new Set(table.rows.map((row) => row[table.columns.indexOf(name)])).size;
  const label = make("label", "", box, make("span", "level", name));
  if (levels > MOST_LEVELS) label.append(make("span", "note", ` ${levels} levels, too many`));
  else if (box.checked) label.append(make("span", "note", " guessed"));
  return label;
}

function notesOf({ notes }: Tidy): HTMLElement {
  return make("ul", "", ...notes.map((note) => make("li", "", readingSentence(note))));
}

/** How many rows are used, and what the others lack. */
function usedSentence({ used, rows, lacking }: Reading): string {
  const why = lacking.map(([column, count]) => say(phrases.lacking, { count, column }));
  return say(phrases.used, { used, rows }) + (why.length ? `: ${why.join(", ")}.` : ".");
}

let shown: readonly Factor[] | null = null;
let listening = false;

/** Keep what was read beside the grid, for as long as that grid is shown. */
function keepBeside(store: Store, reading: Reading, table: Tidy): void {
  const place = byId<HTMLDetailsElement>("reading");
  shown = reading.scene.factors;
  place.replaceChildren(make("summary", "", usedSentence(reading)), table.notes.length ? notesOf(table) : make("p", "", phrases.asWritten));
  if (!listening) store.listen(() => (place.hidden = store.scene.factors !== shown));
  listening = true;
}
