/** Selects, sliders and buttons: they read the scene and make the next one. */

import { byId, make, toast, write } from "./elements.ts";
import { FormulaError, parseFormula } from "./formula.ts";
import { fitsLink, packScene } from "./link.ts";
import { openPreset, presetOf, PRESETS } from "./presets.ts";
import { isPlain, MOST_LEVELS, resize, type Scene, sizesOf, type TruthKind, TRUTHS, truthOf } from "./scene.ts";
import type { Store } from "./store.ts";
import { ASSUMED } from "./words.ts";
import { gapsOf, TRUTH_WORDS } from "./truths.ts";

const input = (id: string): HTMLInputElement => byId<HTMLInputElement>(id);
const select = (id: string): HTMLSelectElement => byId<HTMLSelectElement>(id);

export function wireControls(store: Store, collect: () => void): void {
  fillPresets();
  select("preset").addEventListener("change", () => {
    const preset = presetOf(select("preset").value);
    if (preset) store.commit(openPreset(preset));
  });
  for (const kind of TRUTHS) {
    const option = make("option", "", TRUTH_WORDS[kind]);
    option.value = kind;
    select("truth").append(option);
  }
  select("truth").addEventListener("change", () => chooseTruth(store, select("truth").value as TruthKind));
  input("formula").addEventListener("input", () => writeFormula(store, input("formula").value));
  input("noise").addEventListener("input", () => store.commit({ ...store.scene, noise: Number(input("noise").value) }, "noise"));
  input("depth").addEventListener("input", () => store.commit({ ...store.scene, depth: Number(input("depth").value) }, "depth"));
  for (const id of ["rows", "cols"]) input(id).addEventListener("change", () => changeSize(store));
  byId("clear").addEventListener("click", () => store.commit({ ...store.scene, seen: new Uint8Array(store.scene.seen.length), focus: -1 }));
  select("order").addEventListener("change", () => store.commit({ ...store.scene, order: Number(select("order").value) }));
  for (const kernel of ["ntk", "nngp"] as const) byId(kernel).addEventListener("click", () => store.commit({ ...store.scene, kernel }));
  for (const show of ["says", "misses"] as const) byId(show).addEventListener("click", () => store.view({ show }));
  byId("collect").addEventListener("click", collect);
  byId("undo").addEventListener("click", () => store.undo());
  byId("redo").addEventListener("click", () => store.redo());
  byId("copy").hidden = location.protocol === "blob:"; // in a notebook there is no link to give
  byId("copy").addEventListener("click", () => void copyLink(store.scene));
  document.addEventListener("keydown", (event) => {
    const typing = event.target instanceof HTMLInputElement && event.target.type === "text";
    if (!(event.ctrlKey || event.metaKey) || event.altKey || typing) return;
    const key = event.key.toLowerCase();
    if (key === "z" && !event.shiftKey) store.undo();
    else if (key === "y" || key === "z") store.redo();
    else return;
    event.preventDefault();
  });
}

function fillPresets(): void {
  const list = select("preset");
  for (const group of ["To begin", "Like your data", "Tasks of the papers", "Real tables"] as const) {
    const box = make("optgroup");
    box.label = group;
    for (const preset of PRESETS) {
      if (preset.group !== group) continue;
      const option = make("option", "", preset.title);
      option.value = preset.id;
      box.append(option);
    }
    list.append(box);
  }
  const own = make("option", "", "Own grid");
  own.value = "";
  list.append(own);
}

function chooseTruth(store: Store, kind: TruthKind): void {
  const { scene } = store;
  if (kind === "table") {
    byId("open").click();
    select("truth").value = scene.truth.kind;
    return;
  }
  // Context dependence needs a context beside two features: the task itself brings them.
  if (kind === "context" && scene.factors.length < 3) return store.commit(openPreset(presetOf("context")!));
  const formula = kind === "formula" ? scene.truth.formula || "a * b" : "";
  store.commit({ ...scene, truth: truthOf(kind, { formula }) });
  if (kind === "formula") requestAnimationFrame(() => input("formula").focus());
}

function writeFormula(store: Store, text: string): void {
  try {
    parseFormula(text, store.scene.factors.length);
    write(byId("formulasay"), "");
  } catch (error) {
    if (!(error instanceof FormulaError)) throw error;
    write(byId("formulasay"), error.message);
    return;
  }
  store.commit({ ...store.scene, truth: truthOf("formula", { formula: text }) }, "formula");
}

function changeSize(store: Store): void {
  const { scene } = store;
  const sizes = sizesOf(scene);
  for (const [id, factor] of [["rows", scene.rows], ["cols", scene.columns]] as const) {
    const asked = Math.round(Number(input(id).value));
    if (Number.isFinite(asked)) sizes[factor] = Math.min(Math.max(asked, 2), MOST_LEVELS);
  }
  store.commit(resize(scene, sizes));
}

async function copyLink(scene: Scene): Promise<void> {
  const link = `${location.href.split("#")[0]}#${packScene(scene)}`;
  history.replaceState(null, "", link);
  const rest = fitsLink(scene) ? "" : " The table is too large for a link: it holds what was seen, not the values.";
  try {
    await navigator.clipboard.writeText(link);
    toast(`The link is copied.${rest}`);
  } catch {
    toast(`The link is in the address bar: copy it from there.${rest}`);
  }
}

/** Show in the controls what the scene says. */
export function showControls(store: Store, collecting: boolean): void {
  const { scene } = store;
  const [preset, table] = [presetOf(scene.preset), scene.truth.kind === "table"];
  set(select("preset"), scene.preset);
  const own = select("preset").options[PRESETS.length]!;
  own.hidden = Boolean(preset);
  const name = table ? "Own table" : scene.puzzle ? "Puzzle" : "Own grid";
  if (own.text !== name) own.text = name;
  set(select("truth"), scene.truth.kind);
  set(input("noise"), String(scene.noise));
  set(input("depth"), String(scene.depth));
  const sizes = sizesOf(scene);
  set(input("rows"), String(sizes[scene.rows]));
  set(input("cols"), String(sizes[scene.columns]));
  byId("formularow").hidden = scene.truth.kind !== "formula";
  if (document.activeElement !== input("formula")) set(input("formula"), scene.truth.formula);
  // A text that is not the scene's is no formula, and that is said already.
  if (scene.truth.kind !== "formula") write(byId("formulasay"), "");
  else if (input("formula").value === scene.truth.formula) write(byId("formulasay"), gapsOf(store.following.truth));
  byId("noiserow").hidden = table;
  byId("sizes").hidden = table;
  write(byId("noiseout"), scene.noise ? `± ${scene.noise}` : "none");
  write(byId("depthout"), `${scene.depth} ${scene.depth === 1 ? "layer" : "layers"} deep`);
  byId("orderrow").hidden = scene.factors.length < 3;
  fillOrders(scene);
  press("ntk", scene.kernel === "ntk");
  press("nngp", scene.kernel === "nngp");
  press("says", scene.show === "says");
  press("misses", scene.show === "misses");
  press("collect", collecting);
  byId<HTMLButtonElement>("undo").disabled = !store.canUndo;
  byId<HTMLButtonElement>("redo").disabled = !store.canRedo;
  write(byId("deck"), deckOf(scene));
  write(byId("about"), preset?.about ?? "");
  write(byId("followline"), `if ${ASSUMED[scene.order]}`);
}

function deckOf(scene: Scene): string {
  // Marks that isolate: a name that turns the direction of writing turns itself alone.
  const [row, column] = [scene.rows, scene.columns].map((side) => `\u2068${scene.factors[side]!.name}\u2069`);
  const square = isPlain(scene.factors) ? "Each square combines a row with a column" : `Each square is one ${row} with one ${column}`;
  const value = scene.truth.unit ? ` and has a number, ${scene.truth.unit}` : " and has a number";
  return `${square}${value}. Some were measured. From those, others follow; the rest are open, and a network will print a number for them all the same.`;
}

function fillOrders(scene: Scene): void {
  const list = select("order");
  const most = Math.min(3, scene.factors.length);
  if (list.length !== most) {
    list.replaceChildren(
      ...Array.from({ length: most }, (_, at) => {
        const option = make("option", "", at ? `up to ${at + 1}` : "none: effects add");
        option.value = String(at + 1);
        return option;
      }),
    );
  }
  set(list, String(scene.order));
}

function press(id: string, on: boolean): void {
  byId(id).setAttribute("aria-pressed", String(on));
}

function set(element: HTMLInputElement | HTMLSelectElement, value: string): void {
  if (element.value !== value) element.value = value;
}
