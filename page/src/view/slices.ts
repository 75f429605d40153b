/** More than two factors: one small picture per slice; the chosen one is painted on. */

import { placeOf } from "./layout.ts";
import { button, byId, make } from "./elements.ts";
import type { Inks } from "./looks.ts";
import { drawThumbnail } from "./picture.ts";
import { cellAt, type Scene, slicesOf } from "./scene.ts";
import type { Store } from "./store.ts";

/** Slices up to which each has a picture. */
const MOST_SHOWN = 60;
let shown: { verdicts: Uint8Array; scene: Scene; inks: Inks } | null = null;

export function showSlices(store: Store, inks: Inks): void {
  const box = byId("slices");
  const { scene } = store;
  box.hidden = scene.factors.length < 3;
  if (box.hidden) return;
  const { verdicts } = store.following.found;
  const same = shown?.verdicts === verdicts && shown.scene.slice === scene.slice && shown.scene.rows === scene.rows && shown.scene.columns === scene.columns && shown.inks === inks;
  if (same) return;
  shown = { verdicts, scene, inks };
  const held = document.activeElement instanceof HTMLElement ? document.activeElement.dataset["slice"] : undefined;
  const slices = slicesOf(scene);
  const parts: HTMLElement[] = slices.slice(0, MOST_SHOWN).map((slice, at) => {
    const canvas = make("canvas");
    drawThumbnail(canvas, scene, verdicts, slice, inks);
    const name = scene.factors
      .map((factor, place) => (place === scene.rows || place === scene.columns ? "" : `${factor.name} ${factor.levels[slice[place]!]}`))
      .filter(Boolean)
      .join(", ");
    const element = button("", () => choose(store, slice));
    element.dataset["slice"] = String(at);
    element.append(canvas, make("span", "level", name));
    element.title = name;
    element.setAttribute("aria-pressed", String(isHere(scene, slice)));
    return element;
  });
  if (slices.length > MOST_SHOWN) parts.push(make("span", "note", `and ${slices.length - MOST_SHOWN} more: Page Up and Page Down turn them`));
  parts.push(sidesPicker(store));
  box.replaceChildren(...parts);
  if (held !== undefined) box.querySelector<HTMLElement>(`[data-slice="${held}"]`)?.focus();
}

function isHere(scene: Scene, slice: readonly number[]): boolean {
  return slice.every((level, factor) => factor === scene.rows || factor === scene.columns || level === scene.slice[factor]);
}

function choose(store: Store, slice: readonly number[]): void {
  const { scene } = store;
  const place = scene.focus >= 0 ? placeOf(scene, scene.focus) : null;
  store.view({ slice, focus: place ? cellAt(scene, place[0], place[1], slice) : -1 });
}

/** Which factors are the rows and the columns. */
function sidesPicker(store: Store): HTMLElement {
  const { scene } = store;
  const box = make("span", "sides");
  for (const side of ["rows", "columns"] as const) {
    const list = make("select");
    list.setAttribute("aria-label", `Factor along the ${side}`);
    scene.factors.forEach((factor, place) => {
      const option = make("option", "", factor.name);
      option.value = String(place);
      option.selected = place === scene[side];
      list.append(option);
    });
    list.addEventListener("change", () => {
      const chosen = Number(list.value);
      const other = side === "rows" ? "columns" : "rows";
      // Choosing what the other side shows swaps the two.
      store.view({ [side]: chosen, [other]: scene[other] === chosen ? scene[side] : scene[other] });
    });
    box.append(side === "rows" ? "rows " : " columns ", list);
  }
  return box;
}
