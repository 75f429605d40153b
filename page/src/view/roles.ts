/** How a table was read, and which of its columns are what: told before it is shown, and kept beside the grid. */

import * as phrases from "../generated/phrases.json";
import { type Sheet, TableError } from "../reading/grid.ts";
import { proposeRoles } from "../reading/roles.ts";
import { plural, readingSentence } from "../reading/sentences.ts";
import { readSheet, type Tidy } from "../reading/tidy.ts";
import { UNNAMED_FACTOR } from "../reading/wide.ts";
import { button, byId, make } from "./elements.ts";
import { type Factor, MOST_FACTORS, MOST_LEVELS } from "./scene.ts";
import type { Store } from "./store.ts";
import { measuresOf, MOST_SHOWN, type Reading, sceneOfTable } from "./tables.ts";
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
  const { factors, outcome: target, candidates } = rolesOf(table);
  const shown = fitting(table, factors);
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
    box.checked = shown.includes(name);
    return box;
  });
  const marks = new Map([...candidates.map((name) => [name, " (possible)"] as const), [target, " (guessed)"]]);
  const outcome = optionsOf(["none: verdicts only", ...table.columns.map((name) => name + (marks.get(name) ?? ""))]);
  outcome.selectedIndex = target === null ? 0 : table.columns.indexOf(target) + 1;
  const used = make("p", "used");
  used.setAttribute("role", "status");
  const nevertheless = make("input");
  nevertheless.type = "checkbox";
  const doubt = make("label", "doubt", nevertheless, phrases.nevertheless);
  const chosen = (): Reading => {
    const measured = table.columns[outcome.selectedIndex - 1] ?? null;
    return sceneOfTable(table, table.columns.filter((name, place) => boxes[place]!.checked && name !== measured), measured);
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
    ...naming(table, (names) => attempt(() => askRoles(sheets, dialog, store, at, names || null))),
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

/** Where columns are levels, or might be: a field for the names of their factor and of what was measured. */
function naming({ notes }: Tidy, rename: (names: string) => void): HTMLElement[] {
  const note = notes.find(({ kind }) => /wide|repeats/.test(kind));
  if (!note) return [];
  const field = make("input");
  field.placeholder = "cell_line=viability";
  field.value = note.kind === "wide" ? `${note.column}=${note.values?.[0]}` : "";
  field.addEventListener("change", () => rename(field.value));
  return [make("p", "row", make("label", "", phrases.naming, field))];
}

/** Factors and outcome: those that the layout tells, else guessed ones. */
function rolesOf(table: Tidy): { factors: readonly string[]; outcome: string | null; candidates: readonly string[] } {
  if (table.factors.length) return { ...table, candidates: [] };
  const { factors, columns, candidates } = proposeRoles(table.columns, table.rows);
  // Levels of one factor, or different measurements: only the reader knows.
  const unclear = table.notes.find(({ kind, column }) => kind === "looks_wide" && column === UNNAMED_FACTOR);
  if (unclear) return { factors: factors.filter((name) => !unclear.values!.includes(name)), outcome: null, candidates: unclear.values! };
  const outcome = columns["outcome"] ?? null;
  return { factors, outcome: outcome !== null && isUsable(table, outcome) ? outcome : null, candidates };
}

function isUsable(table: Tidy, outcome: string): boolean {
  try {
    return Boolean(measuresOf(table, outcome));
  } catch {
    return false;
  }
}

/** The first factors that a picture holds together. */
function fitting(table: Tidy, factors: readonly string[]): string[] {
  const chosen: string[] = [];
  let cells = 1;
  for (const name of factors) {
    cells *= levelsOf(table, name);
    if (levelsOf(table, name) > MOST_LEVELS || cells > MOST_SHOWN || chosen.length === MOST_FACTORS) break;
    chosen.push(name);
  }
  return chosen;
}

const levelsOf = (table: Tidy, name: string): number => new Set(table.rows.map((row) => row[table.columns.indexOf(name)])).size;

function optionsOf(texts: readonly string[]): HTMLSelectElement {
  return make("select", "", ...texts.map((text) => make("option", "", text)));
}

function boxLine(name: string, box: HTMLInputElement, table: Tidy): HTMLElement {
  const levels = levelsOf(table, name);
  const label = make("label", "", box, make("span", "level", name));
  if (levels > MOST_LEVELS) label.append(make("span", "note", ` ${levels} levels, too many`));
  else if (box.checked) label.append(make("span", "note", " guessed"));
  return label;
}

function notesOf({ notes }: Tidy): HTMLElement {
  const list = make("ul", "", ...notes.map((note) => make("li", "", readingSentence(note))));
  list.tabIndex = 0; // it may scroll
  return list;
}

/** How many rows are used, and what the others lack. */
function usedSentence({ used, rows, lacking }: Reading): string {
  const why = lacking.map(([column, count]) => say(phrases.lacking, { count, column }));
  return say(phrases.used, { used, rows }) + (why.length ? `: ${why.join(", ")}.` : ".");
}

let kept: readonly Factor[] | null = null;
let listening = false;

/** Keep what was read beside the grid, for as long as that grid is shown. */
function keepBeside(store: Store, reading: Reading, table: Tidy): void {
  const place = byId<HTMLDetailsElement>("reading");
  kept = reading.scene.factors;
  place.replaceChildren(make("summary", "", `${usedSentence(reading)} `, make("u", "", "How it was read")), table.notes.length ? notesOf(table) : make("p", "", phrases.asWritten));
  if (!listening) store.listen(() => (place.hidden = store.scene.factors !== kept));
  listening = true;
}
