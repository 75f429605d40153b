/** The report as a place to ask. Everything here is added by the script: without it the report is whole as it stands.
 * Level names are texts throughout: one that looks like a tag stays a name. */

import { button, make } from "../view/elements.ts";
import { type Account, accountOf, beside, names, tell, valueText } from "./account.ts";
import { type Book, type Embedded, open, type Value } from "./data.ts";
import { layGrids } from "./grid.ts";
import { ask, type Place, placeName } from "./search.ts";
import { compare, type Direction, type Key, sortable, sortTables } from "./tables.ts";

/** Rows shown at first, and with each request for more. */
const ROWS = 12;
const MORE = 60;

interface Column {
  readonly head: string;
  readonly numeric: boolean;
  text(entry: number): string;
  key(entry: number): Key;
}

function start(): void {
  const [holder, data] = [document.getElementById("ask"), document.getElementById("asked")];
  if (!holder || !data?.textContent) return;
  const book = open(JSON.parse(data.textContent) as Embedded);
  sortTables(document);
  if (!book.entries.length) return;
  const desk = new Desk(book, holder);
  const figure = holder.closest("section")?.querySelector("figure");
  if (figure) layGrids(book, figure, (place) => desk.choose(place));
  holder.hidden = false;
}

/** The search box, the verdicts to show, the cells found, and the answer about one of them. */
class Desk {
  private readonly hidden = new Set<number>();
  private readonly words = make("input", "find");
  private readonly place = make("p", "place");
  private readonly filters = make("div", "filters");
  private readonly status = make("p", "soft small");
  private readonly results = make("div", "scroll");
  private readonly answer = make("div", "reply");
  private readonly columns: readonly Column[];
  private asked: Place | null = null;
  private shown = ROWS;
  private sorting: { column: number; direction: Direction } | null = null;
  private chosen = -1;

  constructor(
    private readonly book: Book,
    holder: HTMLElement,
  ) {
    this.columns = columnsOf(book);
    const label = make("label", "", "Find combinations by their levels ", this.words);
    this.words.type = "search";
    this.words.placeholder = names(book, book.entries[0]!).slice(0, 2).join(" ").slice(0, 30);
    this.words.addEventListener("input", () => this.changed());
    this.filters.setAttribute("role", "group");
    this.filters.setAttribute("aria-label", "Verdicts to show");
    this.status.setAttribute("role", "status");
    this.answer.setAttribute("aria-live", "polite");
    this.results.tabIndex = 0;
    this.results.setAttribute("role", "region");
    this.results.setAttribute("aria-label", "Combinations found");
    const how = book.data.panels.length ? " Or click a square of the map (arrow keys and Enter work too)." : "";
    const what = make("p", "soft small", `Type some levels to see what is known of a combination.${how} ${book.data.note}`.trim());
    holder.append(make("h3", "", "Ask about a combination"), what, label, this.filters, this.place, this.answer, this.status, this.results);
    this.draw();
  }

  /** Ask about a place of the map: the cell itself, or the cells behind it. */
  choose(place: Place): void {
    this.asked = place;
    this.words.value = "";
    this.hidden.clear();
    this.changed();
    const { entries } = ask(this.book, { words: "", hidden: this.hidden, place });
    if (entries.length === 1) this.open(entries[0]!);
    else this.close();
    this.answer.parentElement!.scrollIntoView({ block: "nearest" });
  }

  private changed(): void {
    this.shown = ROWS;
    this.draw();
  }

  private open(entry: number): void {
    this.chosen = entry;
    this.answer.replaceChildren(...reply(this.book, accountOf(this.book, entry, false)));
    // Verdict and value are there at once; the page is drawn before a long search.
    window.setTimeout(() => {
      if (this.chosen === entry) this.answer.replaceChildren(...reply(this.book, accountOf(this.book, entry)));
    }, 30);
    for (const row of this.results.querySelectorAll<HTMLElement>("tbody tr")) row.classList.toggle("on", row.dataset["entry"] === String(entry));
    this.answer.scrollIntoView({ block: "nearest" });
  }

  private close(): void {
    this.chosen = -1;
    this.answer.replaceChildren();
  }

  private draw(): void {
    const { entries, counts } = ask(this.book, { words: this.words.value, hidden: this.hidden, place: this.asked });
    if (this.sorting) {
      const { column, direction } = this.sorting;
      const keys = new Map(entries.map((entry) => [entry, this.columns[column]!.key(entry)]));
      entries.sort((one, two) => compare(keys.get(one)!, keys.get(two)!, direction));
    }
    this.drawFilters(counts);
    this.place.replaceChildren();
    if (this.asked) this.place.append(`Only ${placeName(this.book, this.asked)}. `, button("Show all", () => this.clear(), "plain"));
    const shown = entries.slice(0, this.shown);
    const rest = entries.length - shown.length;
    this.status.replaceChildren(entries.length ? `${entries.length.toLocaleString("en")} found${rest ? `, ${shown.length} shown. ` : "."}` : this.nothing());
    if (rest) {
      this.status.append(button(`Show ${Math.min(rest, MORE)} more`, () => {
        this.shown += MORE;
        this.draw();
      }, "plain"));
    }
    this.results.replaceChildren(...(shown.length ? [this.table(shown)] : []));
  }

  /** Why nothing was found: a file that carries some cells along says nothing of the others. */
  private nothing(): string {
    const cure = "try part of a level's name, or show more verdicts";
    return this.book.data.whole ? `None found: ${cure}.` : `None of the combinations in this file; ${cure}, or run recombine explore with the table's name, which has all.`;
  }

  private clear(): void {
    this.asked = null;
    this.changed();
    this.words.focus();
  }

  private drawFilters(counts: readonly number[]): void {
    const present = new Set(this.book.codes);
    this.filters.replaceChildren(
      ...this.book.data.verdicts.flatMap(([word, symbol], code) => {
        if (!present.has(code)) return [];
        const box = make("input");
        box.type = "checkbox";
        box.checked = !this.hidden.has(code);
        box.dataset["code"] = String(code);
        box.addEventListener("change", () => {
          if (box.checked) this.hidden.delete(code);
          else this.hidden.add(code);
          this.changed();
          this.filters.querySelector<HTMLElement>(`[data-code="${code}"]`)?.focus(); // drawn anew, it keeps the focus
        });
        return [make("label", "", box, " ", chip(code, symbol), ` ${word} `, make("span", "soft", (counts[code] ?? 0).toLocaleString("en")))];
      }),
    );
  }

  private table(entries: readonly number[]): HTMLTableElement {
    const table = make("table", "found");
    const heads = table.createTHead().insertRow();
    this.columns.forEach(({ head, numeric }, at) => {
      const cell = make("th", numeric ? "n" : "", head);
      cell.scope = "col";
      if (this.sorting?.column === at) cell.setAttribute("aria-sort", this.sorting.direction);
      sortable(cell, (direction) => {
        this.sorting = { column: at, direction };
        this.draw();
        this.results.querySelectorAll<HTMLElement>("thead button")[at]?.focus();
      });
      heads.append(cell);
    });
    const body = table.createTBody();
    for (const entry of entries) body.append(this.row(entry));
    return table;
  }

  private row(entry: number): HTMLTableRowElement {
    const row = make("tr", entry === this.chosen ? "on" : "");
    row.dataset["entry"] = String(entry);
    this.columns.forEach((column, at) => {
      const cell = make(at ? "td" : "th", column.numeric ? "n" : "");
      if (!at) cell.setAttribute("scope", "row");
      const text = column.text(entry);
      const code = this.book.codes[entry]!;
      if (!at) {
        const press = button(text, () => this.open(entry), "plain");
        press.setAttribute("aria-label", `What is known of ${names(this.book, entry).join(", ")}`);
        cell.append(press);
      } else if (column.head === "verdict") cell.append(make("span", "whole", chip(code, this.book.data.verdicts[code]![1]), ` ${text}`));
      else cell.append(text);
      row.append(cell);
    });
    row.addEventListener("click", () => this.open(entry));
    return row;
  }
}

function columnsOf(book: Book): Column[] {
  const { factors, verdicts, values } = book.data;
  const columns: Column[] = factors.map(([head, levels], factor) => ({
    head,
    numeric: false,
    text: (entry) => levels[book.levels(entry)[factor]!]!,
    key: (entry) => levels[book.levels(entry)[factor]!]!.toLowerCase(),
  }));
  columns.push({ head: "verdict", numeric: false, text: (entry) => verdicts[book.codes[entry]!]![0], key: (entry) => book.codes[entry]! });
  const number = (head: string, of: (value: Value) => number, digits: (value: Value) => string): void => {
    const read = (entry: number): Value | null => book.value(entry);
    columns.push({
      head,
      numeric: true,
      text: (entry) => {
        const value = read(entry);
        return value && Number.isFinite(of(value)) ? digits(value) : "–";
      },
      key: (entry) => {
        const value = read(entry);
        return value && Number.isFinite(of(value)) ? of(value) : null;
      },
    });
  };
  if (values.predicted) number("predicted", ({ predicted }) => predicted, ({ predicted, error }) => beside(predicted, error));
  if (values.error) number("standard error", ({ error }) => error, ({ error }) => beside(error, error));
  if (values.low) {
    number("90 % range from", ({ low }) => low, ({ low, error }) => beside(low, error));
    number("to", ({ high }) => high, ({ high, error }) => beside(high, error));
  }
  if (values.certified) number("certified", ({ certified }) => certified, ({ certified, error }) => beside(certified, error));
  if (values.leverage) number("leverage", ({ leverage }) => leverage, ({ leverage }) => tell(leverage, 3));
  return columns;
}

function chip(code: number, symbol: string): HTMLSpanElement {
  const mark = make("span", `chip v${code}`, symbol);
  mark.setAttribute("aria-hidden", "true");
  return mark;
}

/** Return the answer about one cell. */
function reply(book: Book, account: Account): HTMLElement[] {
  const [word, symbol] = book.data.verdicts[account.code]!;
  const parts: HTMLElement[] = [
    make("h4", "", make("span", "level", account.cell.join(" · "))),
    make("p", "", chip(account.code, symbol), " ", make("strong", "", word), `. ${account.sentences.join(" ")}`),
  ];
  const value = valueText(account, book.data.outcome, book.data.rests);
  if (value) parts.push(make("p", "told", value));
  if (account.terms.length) parts.push(make("p", "", account.lead), sumLine(account));
  if (account.sum) parts.push(make("p", "soft small", account.sum));
  return parts;
}

function sumLine(account: Account): HTMLElement {
  const line = make("p", "sum");
  account.terms.forEach((term, at) => {
    const sign = at ? term.sign : term.sign === "−" ? "= −" : "=";
    const parts = [make("span", "sign", sign), term.weight ? ` ${term.weight} × ` : " ", make("span", "level", term.cell.join(" · "))];
    if (term.observed) parts.push(" ", make("span", "value", term.observed));
    line.append(make("span", "term", ...parts), " ");
  });
  return line;
}

start();
