/** The table on its desk: a window of its map, the whole in small, levels by name, and what is known of the cell asked about. */

import * as phrases from "../generated/served.json";
import { button, make, toast } from "../view/elements.ts";
import { shorten } from "../view/layout.ts";
import { type Inks, readInks } from "../view/looks.ts";
import { say } from "../view/words.ts";
import { accountOf } from "./account.ts";
import { type Asking, type BinsRecord, type CellRecord, type LevelRecord, type ProofRecord, type TableRecord, type TermRecord, type WindowRecord } from "./asking.ts";
import { drawMap, drawWhole, layMap, placeIn, type Places } from "./drawing.ts";
import { makePicker, type Picker } from "./picker.ts";
import { cellUnder, clamp, firstFor, type Look, packLook, type Pair, shapeOf, unpackLook } from "./shape.ts";

/** Milliseconds that the pointer rests on a cell before it is asked about, and before its certificate is. */
const [REST, LONG_REST] = [40, 250];
const STEPS: Readonly<Record<string, Pair>> = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

export class Desk {
  readonly element = make("div", "desk");
  private readonly near = make("canvas", "near");
  private readonly far = make("canvas", "far");
  private readonly wholeBox = make("figure", "whole");
  private readonly pager = make("div", "pager");
  private readonly reply = make("section", "reply");
  private readonly pickers: readonly Picker[];
  sides: Pair;
  at: number[];
  private by: "connected" | "name" = "connected";
  private view: WindowRecord | null = null;
  private bins: BinsRecord | null = null;
  private places: Places | null = null;
  private inks: Inks = readInks(document.documentElement);
  private shape: Pair = [1, 1];
  /** What is told of: the cell that was chosen, or the one under the pointer. */
  private shown: { cell: readonly number[]; terms: readonly TermRecord[] } | null = null;
  private chosen = false;
  private width = 0;
  private turn = 0;
  private asked = 0;
  private resting = 0;

  constructor(
    private readonly table: TableRecord,
    private readonly asking: Asking,
  ) {
    const asked = unpackLook(location.hash, table.factors.map(({ levels }) => levels));
    this.sides = (asked ?? table.start).sides;
    this.at = [...(asked ?? table.start).at];
    this.chosen = asked !== null;
    this.pickers = table.factors.map(({ name }, factor) => makePicker(asking, factor, name, (level) => void this.choose(factor, level), (by) => void this.step(factor, by)));
    this.build();
    this.wire();
  }

  private get levels(): Pair {
    return [this.table.factors[this.sides[0]]!.levels, this.table.factors[this.sides[1]]!.levels];
  }

  private build(): void {
    this.near.tabIndex = 0;
    this.near.setAttribute("role", "application");
    this.near.setAttribute("aria-roledescription", "map of cells");
    this.reply.setAttribute("aria-live", "polite");
    this.reply.setAttribute("aria-label", phrases.cell);
    const sides = make("div", "row sides");
    (["rows", "columns"] as const).forEach((word, side) => sides.append(make("label", "", `${word} `, this.sidePicker(side as 0 | 1))));
    const order = make("select");
    for (const [value, text] of [["connected", phrases.connected], ["name", this.table.by_name]] as const) order.append(new Option(text, value));
    order.addEventListener("change", () => {
      this.by = order.value as "connected" | "name";
      void this.refresh(null);
    });
    sides.append(make("label", "", "levels ", order));
    const pickers = make("div", "pickers", ...this.pickers.map(({ element }) => element));
    this.wholeBox.append(make("figcaption", "note", phrases.whole), this.far);
    this.element.append(sides, pickers, make("div", "maps", make("div", "window", make("div", "scroll", this.near), this.pager), this.wholeBox, this.reply));
  }

  private sidePicker(side: 0 | 1): HTMLSelectElement {
    const list = make("select", "level");
    this.table.factors.forEach(({ name, levels }, factor) => list.append(new Option(`${shorten(name, 24)} (${levels.toLocaleString("en")})`, String(factor), false, factor === this.sides[side])));
    list.addEventListener("change", () => {
      const [taken, other] = [Number(list.value), this.sides[1 - side]!];
      const rest = taken === other ? this.sides[side] : other; // choosing what the other side shows swaps the two
      this.sides = side ? [rest, taken] : [taken, rest];
      this.showSides();
      void this.refresh(null);
    });
    return list;
  }

  private showSides(): void {
    this.element.querySelectorAll<HTMLSelectElement>(".sides select").forEach((one, at) => {
      if (at < 2) one.value = String(this.sides[at]);
    });
  }

  private wire(): void {
    const under = (event: MouseEvent): readonly number[] | null => {
      const { view, places } = this;
      const place = view && places && cellUnder(event.offsetX, event.offsetY, places.left, places.top, places.size, places.shape);
      return place ? this.cellAt(view, place) : null;
    };
    this.near.addEventListener("pointermove", (event) => {
      if (event.pointerType === "touch") return;
      const cell = under(event);
      window.clearTimeout(this.resting);
      if (cell) this.resting = window.setTimeout(() => void this.tell(cell, LONG_REST), REST);
    });
    this.near.addEventListener("pointerleave", () => {
      window.clearTimeout(this.resting);
      if (this.chosen) void this.tell(this.at, 0);
    });
    this.near.addEventListener("click", (event) => {
      const cell = under(event);
      if (cell) this.take(cell);
    });
    this.near.addEventListener("keydown", (event) => this.pressed(event));
    const jump = (event: MouseEvent): void => {
      const { width, height } = this.far.getBoundingClientRect();
      const place = [event.offsetY / height, event.offsetX / width].map((share, side) => clamp(Math.floor(share * this.levels[side]!), 0, this.levels[side]! - 1));
      void this.refresh([0, 1].map((side) => Math.max(0, place[side]! - Math.floor(this.shape[side]! / 2))) as unknown as Pair);
    };
    this.far.addEventListener("click", jump);
    this.far.addEventListener("pointermove", (event) => {
      if (event.buttons && event.pointerType !== "touch") jump(event); // a finger scrolls
    });
    new ResizeObserver(() => {
      if (this.element.clientWidth !== this.width) void this.refresh(this.view?.first ?? null);
    }).observe(this.element);
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      this.inks = readInks(document.documentElement);
      this.draw();
    });
  }

  private cellAt(view: WindowRecord, place: Pair): number[] {
    const cell = [...this.at];
    cell[this.sides[0]] = view.levels[0][place[0]]!;
    cell[this.sides[1]] = view.levels[1][place[1]]!;
    return cell;
  }

  private pressed(event: KeyboardEvent): void {
    const { view } = this;
    if (!view || event.ctrlKey || event.metaKey || event.altKey) return;
    const now: Pair = [view.first[0] + Math.max(0, view.levels[0].indexOf(this.at[this.sides[0]]!)), view.first[1] + Math.max(0, view.levels[1].indexOf(this.at[this.sides[1]]!))];
    const page = this.shape[0];
    const by = STEPS[event.key] ?? ({ PageUp: [-page, 0], PageDown: [page, 0], Home: [0, -Infinity], End: [0, Infinity], Enter: [0, 0], " ": [0, 0] } as Record<string, Pair>)[event.key];
    if (!by) return;
    event.preventDefault();
    const place = [0, 1].map((side) => clamp(now[side]! + by[side]!, 0, this.levels[side]! - 1)) as unknown as Pair;
    void this.moveTo(place);
  }

  private async moveTo(place: Pair): Promise<void> {
    const first = firstFor(place, this.view!.first, this.shape, this.levels);
    if (first[0] !== this.view!.first[0] || first[1] !== this.view!.first[1]) await this.refresh(first);
    const { view } = this;
    const [row, column] = [place[0] - view!.first[0], place[1] - view!.first[1]];
    // Another move may have come between, and its window does not hold the place.
    if (view?.levels[0][row] !== undefined && view.levels[1][column] !== undefined) this.take(this.cellAt(view, [row, column]));
  }

  /** Show where another link looks. */
  async turnTo({ sides, at }: Look): Promise<void> {
    this.sides = sides;
    this.showSides();
    await this.go(at);
  }

  /** Show what the link asks for, or the table's beginning. */
  async open(): Promise<void> {
    await this.refresh(null);
    if (this.chosen) void this.tell(this.at, 0);
  }

  /** Choose a cell that is in view. */
  private take(cell: readonly number[]): void {
    this.hold(cell);
    this.name();
    void this.tell(cell, 0);
  }

  /** Show any cell: its slice, with the cell in the window. */
  async go(cell: readonly number[]): Promise<void> {
    this.hold(cell);
    await this.refresh(null);
    // Windows may come out of turn: a cell asked about since then has the word.
    if (cell.join() !== this.at.join()) return;
    void this.tell(cell, 0);
    this.near.scrollIntoView({ block: "nearest" });
  }

  private hold(cell: readonly number[]): void {
    this.at = [...cell];
    this.chosen = true;
    this.keepLink();
  }

  /** Keep in the address where one looks; nothing where nobody chose a cell. */
  keepLink(): void {
    history.replaceState(null, "", this.chosen ? `#${packLook(this)}` : location.pathname + location.search);
  }

  private async choose(factor: number, level: number): Promise<void> {
    const cell = [...this.at];
    cell[factor] = level;
    await this.go(cell);
  }

  private async step(factor: number, by: number): Promise<void> {
    try {
      const { level } = await this.asking.ask<LevelRecord>("beside", { level: [factor, this.at[factor]!], by: this.by, ...(by < 0 ? { back: "1" } : {}) });
      await this.choose(factor, level);
    } catch (error) {
      toast(error instanceof Error ? error.message : String(error));
    }
  }

  /** Fetch the window that begins at `first`, or around the cell asked about, and draw it. */
  async refresh(first: Pair | null): Promise<void> {
    const width = this.element.clientWidth;
    if (!width) return;
    this.width = width;
    const turn = ++this.turn;
    const narrow = width < 700;
    const whole = shapeOf(this.levels, { width, tall: narrow ? 400 : 540, left: narrow ? 90 : 130 });
    const paged = whole.shape[0] < this.levels[0] || whole.shape[1] < this.levels[1];
    const { shape, size } = paged && !narrow ? shapeOf(this.levels, { width: width - 230, tall: 540, left: 130 }) : whole;
    this.wholeBox.hidden = !paged;
    const words = { sides: this.sides, at: this.at, by: this.by };
    try {
      const view = await this.asking.ask<WindowRecord>("window", { ...words, shape, ...(first ? { first } : {}) });
      if (turn !== this.turn) return;
      [this.view, this.shape] = [view, shape];
      this.places = layMap(this.near, view, size, narrow ? 90 : 130, this.inks);
      this.draw();
      this.name();
      this.drawPager(paged);
      document.documentElement.dataset["firstVerdict"] ??= String(Math.round(performance.now()));
      if (!paged) return;
      this.bins = await this.asking.ask<BinsRecord>("bins", words);
      if (turn === this.turn) this.draw();
    } catch (error) {
      toast(error instanceof Error ? error.message : String(error));
    }
  }

  private draw(): void {
    const { view, places, table, inks, shown } = this;
    if (!view || !places) return;
    const frame = { view, verdicts: table.verdicts, inks, asked: shown?.cell ?? null, terms: shown?.terms ?? [], sides: this.sides, at: this.at };
    drawMap(this.near, places, frame);
    if (this.bins && !this.wholeBox.hidden) drawWhole(this.far, this.bins, table.verdicts, inks, view.first, this.shape, this.levels);
  }

  /** Put the names of the cell's levels into the boxes. */
  private name(): void {
    const { view } = this;
    this.table.factors.forEach((_, factor) => {
      const side = this.sides.indexOf(factor);
      const place = side < 0 || !view ? -1 : view.levels[side as 0 | 1].indexOf(this.at[factor]!);
      if (place >= 0) this.pickers[factor]!.show(view!.labels[side as 0 | 1][place]!);
      this.pickers[factor]!.element.classList.toggle("side", side >= 0);
    });
    // Levels of the slice are in no window: the cell's own answer has them.
    void this.asking.ask<CellRecord>("cell", { at: this.at }).then(({ cell, labels }) => {
      if (cell.join() === this.at.join()) labels.forEach((label, factor) => this.pickers[factor]!.show(label));
    }, () => undefined);
  }

  private drawPager(paged: boolean): void {
    const { view, levels, shape } = this;
    this.pager.hidden = !paged;
    if (!view || !paged) return this.near.setAttribute("aria-label", phrases.map);
    const held = document.activeElement instanceof HTMLElement && this.pager.contains(document.activeElement) ? document.activeElement.getAttribute("aria-label") : null;
    const parts = (["rows", "columns"] as const).flatMap((word, side) => {
      const [from, long, all] = [view.first[side]!, Math.min(shape[side]!, levels[side]!), levels[side]!];
      if (long === all) return [];
      const turn = (by: number): void => {
        const next: [number, number] = [view.first[0], view.first[1]];
        next[side] = clamp(from + by * long, 0, Math.max(all - long, 0));
        void this.refresh(next);
      };
      const [back, on] = [button(side ? "◀" : "▲", () => turn(-1)), button(side ? "▶" : "▼", () => turn(1))];
      [back.disabled, on.disabled] = [from === 0, from + long >= all];
      back.setAttribute("aria-label", `${word} before`);
      on.setAttribute("aria-label", `${word} after`);
      return [make("span", "", `${word} `, back, ` ${(from + 1).toLocaleString("en")} to ${(from + long).toLocaleString("en")} of ${all.toLocaleString("en")} `, on)];
    });
    this.pager.replaceChildren(...parts);
    if (held) this.pager.querySelector<HTMLElement>(`[aria-label="${held}"]`)?.focus();
    const shown = parts.map((part) => part.textContent?.replace(/[◀▶▲▼]/g, "").trim()).join(", ");
    this.near.setAttribute("aria-label", say(phrases.mapOf, { window: shown }));
  }

  /** Say what is known of a cell; its certificate after `rest` milliseconds, so that a passing pointer asks for none. */
  private async tell(cell: readonly number[], rest: number): Promise<void> {
    if (this.shown?.cell.join() === cell.join() && rest) return;
    const turn = ++this.asked;
    this.shown = { cell, terms: [] };
    this.draw();
    try {
      const known = await this.asking.ask<CellRecord>("cell", { at: cell });
      if (turn !== this.asked) return;
      this.write(known, known.code === 1 ? null : undefined);
      if (known.code !== 1) return;
      await new Promise((done) => window.setTimeout(done, rest));
      if (turn !== this.asked) return;
      const proof = await this.asking.ask<ProofRecord>("certificate", { at: cell });
      if (turn !== this.asked) return;
      this.shown = { cell, terms: proof.terms };
      this.write(known, proof);
      this.draw();
    } catch (error) {
      if (turn === this.asked) this.reply.replaceChildren(make("p", "fault", error instanceof Error ? error.message : String(error)));
    }
  }

  private write(known: CellRecord, proof: ProofRecord | null | undefined): void {
    const { view, sides, at } = this;
    const held = !view || !proof || [known, ...proof.terms].every(({ cell }) => placeIn({ view, sides, at }, cell));
    this.reply.replaceChildren(...accountOf(this.table, known, proof, held ? null : sides, (cell) => void this.go(cell)));
  }

  hint(text: string): void {
    this.reply.replaceChildren(make("p", "head", text));
  }
}
