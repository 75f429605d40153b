/** What the program says of one cell, written out. Texts are texts throughout: a level named like a tag stays a name. */

import * as phrases from "../generated/served.json";
import { button, make } from "../view/elements.ts";
import { shorten } from "../view/layout.ts";
import type { CellRecord, NamedCell, ProofRecord, TableRecord, TermRecord } from "./asking.ts";
import type { Pair } from "./shape.ts";

export function chip(table: TableRecord, code: number): HTMLElement {
  const mark = make("span", `chip v${code}`, table.verdicts[code]?.symbol ?? "–");
  mark.setAttribute("aria-hidden", "true");
  return mark;
}

/** Return the levels of a cell with the names of their factors. */
export function named(table: TableRecord, { labels, text }: NamedCell): HTMLElement {
  const line = make("span", "cell");
  if (text !== undefined) line.append(make("span", "level", text));
  else labels.forEach((label, at) => line.append(at ? ", " : "", make("span", "level soft", table.factors[at]!.name), " ", make("span", "level", label.trim() || "(blank)")));
  return line;
}

/** Write the account of a cell; `proof` is null while it is looked for, undefined where there is none. Where the window
 * does not hold all of the certificate, `sides` says along which factors it is drawn apart. */
export function accountOf(table: TableRecord, cell: CellRecord, proof: ProofRecord | null | undefined, sides: Pair | null, go: (cell: readonly number[]) => void): HTMLElement[] {
  const parts: HTMLElement[] = [make("p", "head", chip(table, cell.code), named(table, cell), `: ${cell.word}`), make("p", "", cell.sentence)];
  if (cell.facts?.length) parts.push(factsOf(cell.facts));
  if (proof === null) parts.push(make("p", "note", phrases.searching));
  if (proof?.terms.length) parts.push(sumOf(proof, go));
  const apart = proof && sides ? gridOf(cell, proof, sides) : null;
  if (apart) parts.push(apart);
  for (const line of [...(cell.lines ?? []), ...(proof?.lines ?? [])]) parts.push(make("p", "note", `${line[0]!.toUpperCase()}${line.slice(1)}${line.endsWith(".") ? "" : "."}`));
  return parts;
}

/** Rows and columns up to which a certificate is drawn apart. */
const MOST_APART = 12;

/** The certificate's own rows and columns, with the sign of each seen cell; null where it leaves the slice. */
function gridOf(cell: CellRecord, proof: ProofRecord, sides: Pair): HTMLElement | null {
  const marks = [{ cell: cell.cell, labels: cell.labels, sign: "?" }, ...proof.terms];
  const inSlice = marks.every((one) => one.cell.every((level, factor) => sides.includes(factor) || level === cell.cell[factor]));
  const names = sides.map((side) => new Map(marks.map((one) => [one.cell[side]!, one.labels[side]!])));
  if (!inSlice || proof.further || names.some((some) => some.size > MOST_APART)) return null;
  const [rows, columns] = names as [Map<number, string>, Map<number, string>];
  const head = make("tr", "", make("td"), ...[...columns.values()].map((name) => make("th", "level", shorten(name) || "(blank)")));
  const lines = [...rows].map(([row, name]) => {
    const places = [...columns.keys()].map((column) => {
      const sign = marks.find((one) => one.cell[sides[0]] === row && one.cell[sides[1]] === column)?.sign ?? "";
      return make("td", sign === "?" ? "v1" : sign ? "v0" : "", sign);
    });
    return make("tr", "", make("th", "level", shorten(name) || "(blank)"), ...places);
  });
  return make("div", "scroll", make("p", "note", phrases.apart), make("table", "apart", head, ...lines));
}

function factsOf(facts: readonly (readonly [string, string])[]): HTMLElement {
  const line = make("p", "facts");
  for (const [name, value] of facts) line.append(make("span", "", `${name} `, make("b", "", value)));
  return line;
}

/** The certificate as a sum; each seen cell of it can be pressed to be shown. */
function sumOf(proof: ProofRecord, go: (cell: readonly number[]) => void): HTMLElement {
  const line = make("p", "sum", "Its certificate: = ");
  proof.terms.forEach((term, at) => line.append(termOf(term, at === 0, go), " "));
  if (proof.further) line.append(`and ${proof.further} more`);
  return line;
}

function termOf(term: TermRecord, first: boolean, go: (cell: readonly number[]) => void): HTMLElement {
  const sign = first && term.sign === "+" ? "" : `${term.sign} `;
  const name = button("", () => go(term.cell), "plain");
  name.append(make("span", "level", term.text ?? term.labels.map((label) => label.trim() || "(blank)").join(" · ")));
  const part = make("span", "term", `${sign}${term.weight ? `${term.weight} × ` : ""}`, name);
  if (term.observed) part.append(" ", make("i", "", term.observed));
  return part;
}
