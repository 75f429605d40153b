/** Own data: a dropped, chosen or pasted table becomes a scene. Nothing is sent anywhere. */

import { readFile } from "../reading/files.ts";
import { type Sheet, TableError } from "../reading/grid.ts";
import { gridOfText } from "../reading/text.ts";
import { button, byId, make, toast } from "./elements.ts";
import { askRoles, faultLine } from "./roles.ts";
import type { Store } from "./store.ts";

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

/** Ask for a file or a text. */
function askTable(dialog: HTMLDialogElement, store: Store): void {
  const file = make("input");
  file.type = "file";
  file.accept = ".csv,.tsv,.txt,.gz,.zip,.xlsx,.xlsm,.parquet,text/csv";
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
    make("p", "", "As it is, titles, totals and wide layouts too. Choose, drop or paste it; it stays on this machine."),
    make("p", "", file),
    text,
    faultLine(),
    make("div", "bar", button("Read it", () => void take(async () => [{ name: "", grid: gridOfText(text.value) }], dialog, store), "lead"), button("Cancel", () => dialog.close())),
  );
  if (!dialog.open) dialog.showModal();
}
