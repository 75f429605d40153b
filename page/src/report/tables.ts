/** Tables that can be sorted: a button in each column's head. Without a script they are as they were written. */

import { button } from "../view/elements.ts";

export type Direction = "ascending" | "descending";

/** Let every table of the page be sorted that has more than one row. */
export function sortTables(root: ParentNode): void {
  for (const table of root.querySelectorAll<HTMLTableElement>(".scroll > table")) {
    const body = table.tBodies[0];
    const heads = table.tHead?.rows[table.tHead.rows.length - 1];
    if (!body || !heads || body.rows.length < 2) continue;
    [...heads.cells].forEach((head, column) => {
      if (!head.textContent?.trim()) return;
      sortable(head, (direction) => sortRows(body, column, direction));
    });
  }
}

/** Put a button into a head that sorts by it, and turns round when it is pressed again. */
export function sortable(head: HTMLTableCellElement, sort: (direction: Direction) => void): void {
  const press = button("", () => {
    const direction: Direction = head.ariaSort === "ascending" ? "descending" : "ascending";
    for (const other of head.parentElement!.children) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", direction);
    sort(direction);
  }, "sort");
  press.append(...head.childNodes);
  head.append(press);
}

function sortRows(body: HTMLTableSectionElement, column: number, direction: Direction): void {
  const rows = [...body.rows].map((row) => ({ row, key: keyOf(row.cells[column]?.textContent ?? "") }));
  rows.sort((one, two) => compare(one.key, two.key, direction));
  body.append(...rows.map(({ row }) => row));
}

export type Key = number | string | null;

/** Return what a text is sorted by: its number if it starts with one, null if it says nothing. */
export function keyOf(text: string): Key {
  const plain = text.trim();
  if (plain === "" || plain === "–") return null;
  const number = /^[<≈]?\s*[-−+]?[\d,]*\.?\d+(e[-−+]?\d+)?(?=$|\s|%)/i.exec(plain);
  return number ? Number(number[0].replace(/[<≈,\s]/g, "").replace(/−/g, "-")) : plain.toLowerCase();
}

/** Numbers before texts; what says nothing is last either way. */
export function compare(one: Key, two: Key, direction: Direction): number {
  if (one === null || two === null) return Number(one === null) - Number(two === null);
  const turned = direction === "ascending" ? 1 : -1;
  if (typeof one === "number" && typeof two === "number") return turned * (one - two);
  if (typeof one !== typeof two) return turned * (typeof one === "number" ? -1 : 1);
  return turned * String(one).localeCompare(String(two), "en", { numeric: true });
}
