/** Choosing a level by typing part of its name: millions of levels fit no list. */

import * as phrases from "../generated/served.json";
import { button, make } from "../view/elements.ts";
import type { Asking, LevelRecord } from "./asking.ts";

/** Milliseconds that typing pauses before names are looked up. */
const PAUSE = 120;

export interface Picker {
  readonly element: HTMLElement;
  /** Show a level's name in the box, unless somebody is typing there. */
  show(name: string): void;
}

/** Return a box for the levels of one factor; `choose` hears which was taken, `step` moves to the one before or after. */
export function makePicker(asking: Asking, factor: number, name: string, choose: (level: number) => void, step: (by: number) => void): Picker {
  const box = make("input");
  const list = make("ul", "matches");
  const id = `levels-${factor}`;
  box.type = "text";
  box.autocomplete = "off";
  box.spellcheck = false;
  for (const [key, value] of Object.entries({ role: "combobox", "aria-expanded": "false", "aria-controls": id, "aria-autocomplete": "list", "aria-label": `Level of ${name}` })) box.setAttribute(key, value);
  list.id = id;
  list.setAttribute("role", "listbox");
  list.hidden = true;
  let [timer, asked, shown, typed] = [0, 0, "", false];
  let listed: readonly LevelRecord[] = [];

  /** Mark what Enter takes: the name that stands in the box, else the first that holds what was typed. */
  const mark = (): void => {
    const taken = bestOf(listed, box.value, typed);
    listed.forEach((one, at) => list.children[at]!.setAttribute("aria-selected", String(one === taken)));
  };
  const close = (): void => {
    list.hidden = true;
    box.setAttribute("aria-expanded", "false");
    asked++;
  };
  const take = ({ level, label }: LevelRecord): void => {
    close();
    [shown, typed] = [label, false];
    box.value = label;
    box.blur();
    choose(level);
  };
  const look = async (): Promise<LevelRecord[]> => {
    const turn = ++asked;
    const found = await asking.ask<LevelRecord[]>("levels", { factor: [factor], text: typed ? box.value : "" });
    if (turn !== asked) return found;
    list.replaceChildren(...found.map((one) => entryOf(one, take)));
    listed = found;
    mark();
    if (!found.length) list.replaceChildren(make("li", "note", phrases.noLevel));
    list.hidden = false;
    box.setAttribute("aria-expanded", "true");
    return found;
  };
  const quietly = (): void => void look().catch(() => close());

  box.addEventListener("focus", () => {
    typed = false;
    box.select();
    quietly();
  });
  box.addEventListener("input", () => {
    typed = true;
    window.clearTimeout(timer);
    timer = window.setTimeout(quietly, PAUSE);
  });
  box.addEventListener("blur", () => {
    window.clearTimeout(timer);
    close();
    typed = false;
    box.value = shown;
  });
  box.addEventListener("keydown", (event) => {
    if (event.key === "Escape") box.blur();
    else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      typed = false;
      step(event.key === "ArrowDown" ? 1 : -1);
    } else if (event.key === "Enter" && !typed) box.blur(); // nothing else was asked for
    else if (event.key === "Enter") {
      const text = box.value; // before the names are here, the box may have been left and show its level again
      void look().then((found) => {
        const best = bestOf(found, text, true);
        if (best) take(best);
      }, close);
    } else return;
    event.preventDefault();
  });
  const title = make("span", "name", make("span", "level", name));
  const back = button("‹", () => step(-1));
  const on = button("›", () => step(1));
  back.setAttribute("aria-label", `${name}: level before`);
  on.setAttribute("aria-label", `${name}: level after`);
  return {
    element: make("div", "picker", title, make("div", "bar", back, make("div", "box", box, list), on)),
    show: (label) => {
      shown = label;
      if (!typed) box.value = label;
      mark();
    },
  };
}

/** Return the level that is called just so, capitals counting only where two names differ in nothing else; without one
 * and if somebody typed a part of a name, the first found. */
export function bestOf(found: readonly LevelRecord[], text: string, typed: boolean): LevelRecord | undefined {
  const words = text.trim().toLowerCase();
  const called = found.find(({ label }) => label === text) ?? found.find(({ label }) => label.trim().toLowerCase() === words);
  return called ?? (typed && words ? found[0] : undefined);
}

function entryOf(one: LevelRecord, take: (one: LevelRecord) => void): HTMLLIElement {
  const entry = make("li", "level", one.label.trim() || "(blank)");
  entry.setAttribute("role", "option");
  // Pressed, not clicked: by the click the box has lost the focus and the list is gone.
  entry.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    take(one);
  });
  return entry;
}
