/** Own data: a dropped, chosen or pasted table becomes a scene. Nothing is sent anywhere. */

import { readFile } from "../reading/files.ts";
import { type Sheet, TableError } from "../reading/grid.ts";
import { gridOfText } from "../reading/text.ts";
import { guessRoles, profile, tableOf } from "./csv.ts";
import { button, byId, make, toast } from "./elements.ts";
import type { Store } from "./store.ts";
import { MOST_LEVELS } from "./scene.ts";
import { sceneOfTable } from "./tables.ts";

/** Bytes up to which a file is read here. */
const LARGEST = 20e6;

export function wireDrop(store: Store): void {
  const dialog = byId<HTMLDialogElement>("table");
  byId("open").addEventListener("click", () => askTable(dialog, store));
  const root = document.documentElement;
  document.addEventListener("dragover", (event) => {
    event.preventDefault();
    root.classList.add("drop");
  });
  document.addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) root.classList.remove("drop");
  });
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    root.classList.remove("drop");
    const file = event.dataTransfer?.files[0];
    if (file) void takeFile(file, dialog, store);
  });
}

/** Say what is wrong where the reader looks: in the dialog if it is open, else at the foot of the page. */
function complain(text: string, dialog: HTMLDialogElement): void {
  const fault = dialog.open && dialog.querySelector(".fault");
  if (fault) fault.textContent = text;
  else toast(text, true);
}

function faultLine(): HTMLElement {
  const fault = make("p", "fault");
  fault.setAttribute("role", "alert");
  return fault;
}

async function takeFile(file: File, dialog: HTMLDialogElement, store: Store): Promise<void> {
  if (file.size > LARGEST) {
    return complain(`${file.name} has ${Math.round(file.size / 1e6)} MB, more than the page takes; run: recombine explore ${file.name}`, dialog);
  }
  await take(async () => readFile(file.name, new Uint8Array(await file.arrayBuffer())), dialog, store);
}

async function take(read: () => Promise<Sheet[]>, dialog: HTMLDialogElement, store: Store): Promise<void> {
  try {
    askRoles(await read(), dialog, store);
  } catch (error) {
    if (!(error instanceof TableError)) throw error;
    complain(error.message, dialog);
  }
}

/** The first sheet that holds a table, which need not be the first. */
function firstTable(sheets: readonly Sheet[]): number {
  const found = sheets.findIndex(({ grid }) => {
    try {
      return tableOf(grid);
    } catch {
      return false;
    }
  });
  return Math.max(found, 0);
}

/** Ask for a file or a text. */
function askTable(dialog: HTMLDialogElement, store: Store): void {
  const file = make("input");
  file.type = "file";
  file.accept = ".csv,.tsv,.txt,.gz,.zip,.xlsx,.parquet,text/csv";
  file.setAttribute("aria-label", "A CSV, Excel or Parquet file");
  file.addEventListener("change", () => {
    const chosen = file.files?.[0];
    if (chosen) void takeFile(chosen, dialog, store);
  });
  const text = make("textarea");
  text.setAttribute("aria-label", "A table as text");
  text.placeholder = "variety,site,yield\nTrebi,Morris,43.8\n…";
  dialog.replaceChildren(
    make("h2", "", "Open a table"),
    make("p", "", "One row per measurement, columns apart by commas. Choose a file, drop it anywhere on the page, or paste it here. It stays on this machine."),
    make("p", "", file),
    text,
    faultLine(),
    make("div", "bar", button("Read it", () => void take(async () => [{ name: "", grid: gridOfText(text.value) }], dialog, store), "lead"), button("Cancel", () => dialog.close())),
  );
  if (!dialog.open) dialog.showModal();
}

/** Ask which columns are factors and which is the outcome. */
function askRoles(sheets: readonly Sheet[], dialog: HTMLDialogElement, store: Store, at = firstTable(sheets)): void {
  const table = tableOf(sheets[at]!.grid);
  const columns = profile(table);
  const guess = guessRoles(table, columns);
  const boxes = table.columns.map((name) => {
    const box = make("input");
    box.type = "checkbox";
    box.checked = guess.factors.includes(name);
    return box;
  });
  const outcome = make("select");
  const none = make("option", "", "none: verdicts only");
  none.value = "";
  outcome.append(none);
  table.columns.forEach((name, at) => {
    const option = make("option", "", name);
    option.value = String(at);
    option.selected = name === guess.outcome;
    outcome.append(option);
  });
  const fault = faultLine();
  const show = (): void => {
    const target = outcome.value === "" ? null : table.columns[Number(outcome.value)]!;
    const names = table.columns.filter((name, at) => boxes[at]!.checked && name !== target);
    try {
      const { scene, leftOut } = sceneOfTable(table, names, target);
      store.commit(scene);
      dialog.close();
      if (leftOut) toast(`${leftOut} of ${table.rows.length} rows were left out: a factor or the outcome is missing there.`);
    } catch (error) {
      if (!(error instanceof TableError)) throw error;
      fault.textContent = error.message;
    }
  };
  const chosen = make("select", "", ...sheets.map(({ name }) => make("option", "", name)));
  chosen.selectedIndex = at;
  chosen.addEventListener("change", () => {
    try {
      askRoles(sheets, dialog, store, chosen.selectedIndex);
    } catch (error) {
      if (!(error instanceof TableError)) throw error;
      fault.textContent = error.message;
    }
  });
  const factors = make("fieldset", "", make("legend", "", "Factors"), ...columns.map(({ name, distinct }, at) => {
    const label = make("label", "", boxes[at]!, make("span", "level", name));
    if (distinct > MOST_LEVELS) label.append(make("span", "note", ` ${distinct} levels, too many`));
    return label;
  }));
  dialog.replaceChildren(
    make("h2", "", `${table.rows.length} rows, ${table.columns.length} columns`),
    make("p", "", "Which columns are factors, and which one was measured? Rows of one cell are averaged."),
    ...(sheets.length > 1 ? [make("p", "row", make("label", "", "Sheet ", chosen))] : []),
    factors,
    make("p", "row", make("label", "", "Outcome ", outcome)),
    fault,
    make("div", "bar", button("Show it", show, "lead"), button("Cancel", () => dialog.close())),
  );
  if (!dialog.open) dialog.showModal();
}
