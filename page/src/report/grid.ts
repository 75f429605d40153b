/** The map's grids, laid over the drawings: a place is pressed, or reached with arrow keys and opened with Enter. */

import { make } from "../view/elements.ts";
import type { Book, EmbeddedPanel } from "./data.ts";
import { type Place, placeName } from "./search.ts";

const STEPS: Readonly<Record<string, readonly [number, number]>> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
};

/** Lay a sheet over each grid of both drawings; `choose` is told which place was asked for. */
export function layGrids(book: Book, figure: Element, choose: (place: Place) => void): void {
  for (const size of ["wide", "narrow"] as const) {
    const holder = figure.querySelector<HTMLElement>(`.${size}`);
    const drawing = holder?.querySelector<SVGElement>("svg");
    if (!holder || !drawing) continue;
    holder.classList.add("asked");
    holder.style.maxWidth = drawing.style.maxWidth; // shares are of the drawing, which may be narrower than the page
    for (const panel of book.data.panels) holder.append(sheet(book, panel, panel[size], choose));
  }
}

function sheet(book: Book, panel: EmbeddedPanel, box: readonly number[], choose: (place: Place) => void): HTMLElement {
  const [rows, columns] = panel.shape;
  const cursor = make("span", "cursor");
  const over = make("div", "sheet", cursor);
  const factors = panel.factors.map((factor) => book.data.factors[factor]![0]).join(" × ");
  over.tabIndex = 0;
  over.setAttribute("role", "application");
  over.setAttribute("aria-roledescription", "grid");
  ["left", "top", "width", "height"].forEach((side, at) => over.style.setProperty(side, `${100 * box[at]!}%`));
  let [down, across] = [0, 0];
  const place = (): Place => {
    // Of interchangeable factors half of the grid is drawn.
    const [one, two] = panel.triangle ? [Math.min(down, across), Math.max(down, across)] : [down, across];
    return { panel, down: one, across: two };
  };
  const move = (row: number, column: number): void => {
    down = Math.min(Math.max(row, 0), rows - 1);
    across = Math.min(Math.max(column, 0), columns - 1);
    const at = place();
    cursor.style.cssText = `left:${(100 * at.across) / columns}%;top:${(100 * at.down) / rows}%;width:${100 / columns}%;height:${100 / rows}%`;
    over.setAttribute("aria-label", `Verdict map of ${factors}. ${placeName(book, at)}. Arrow keys move, Enter asks.`);
    over.title = placeName(book, at);
  };
  const follow = (event: MouseEvent): void => {
    const { left, top, width, height } = over.getBoundingClientRect();
    move(Math.floor(((event.clientY - top) / height) * rows), Math.floor(((event.clientX - left) / width) * columns));
  };
  over.addEventListener("mousemove", follow);
  over.addEventListener("click", (event) => {
    follow(event);
    choose(place());
  });
  over.addEventListener("keydown", (event) => {
    const step = STEPS[event.key];
    if (step) move(down + step[0], across + step[1]);
    else if (event.key === "Enter" || event.key === " ") choose(place());
    else return;
    event.preventDefault();
  });
  move(0, 0);
  return over;
}
