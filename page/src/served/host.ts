/** The page with a table behind it: what the program found, the map, and the brush where the table is small enough. */

import * as phrases from "../generated/served.json";
import type { openPage } from "../view/app.ts";
import { button, byId, make, toast } from "../view/elements.ts";
import { say } from "../view/words.ts";
import { chip, named } from "./account.ts";
import { Asking, type TableRecord } from "./asking.ts";
import { Desk } from "./desk.ts";
import { sceneAsked, UNTOUCHED } from "./painting.ts";
import { unpackLook } from "./shape.ts";

/** Milliseconds after which the brush has surely kept its last stroke in the address. */
const KEPT = 400;

function tally(table: TableRecord): HTMLElement {
  const list = make("ul", "tally");
  table.verdicts.forEach((verdict, code) => {
    if (verdict.none && code > 2) return;
    const item = make("li", "", chip(table, code), `${verdict.word} `, make("b", "", verdict.count));
    item.title = verdict.meaning;
    list.append(item);
  });
  return list;
}

function findings(table: TableRecord): HTMLElement {
  const box = make("section", "", make("h2", "", phrases.findings));
  const list = make("ul", "findings");
  for (const { code, title, severity, message } of table.findings) list.append(make("li", severity, make("b", "", `${title} `), make("span", "note", `${severity}, ${code}`), make("p", "level", message)));
  box.append(table.findings.length ? list : make("p", "", phrases.noFindings));
  for (const sentence of table.left_out) box.append(make("p", "note", sentence));
  return box;
}

function collect(table: TableRecord, desk: Desk): HTMLElement {
  const box = make("section", "", make("h2", "", phrases.collect));
  if (table.next.text) box.append(make("p", "", table.next.text));
  const list = make("ol", "collect");
  for (const one of table.next.cells) {
    const press = button("", () => void desk.go(one.cell));
    press.append(named(table, one), make("span", "note", one.gain));
    list.append(make("li", "", press));
  }
  if (table.next.cells.length) box.append(list);
  else if (!table.next.text) box.append(make("p", "", phrases.noPlan));
  return box;
}

/** Lay the table out; what is returned lets it be painted on, once the page's own script is there. */
function lay(table: TableRecord, asking: Asking): (open: typeof openPage) => void {
  const desk = new Desk(table, asking);
  const main = document.querySelector("main")!;
  const [first, ...more] = table.answer;
  const told = make("div", "told", make("h1", "level", table.source), make("p", "deck", first ?? ""));
  for (const sentence of more) told.append(make("p", "", sentence));
  const { rows, cells, assumption } = table;
  const outcome = table.outcome ? say(phrases.outcome, { outcome: table.outcome }) : "";
  const about = say(phrases.table, { rows, factors: table.factors.length, cells, outcome, assumption });
  told.append(make("p", "note level", about), tally(table));
  if (table.sampled) told.append(make("p", "note", say(phrases.sampled, { count: table.sampled.toLocaleString("en") })));
  if (table.command) told.append(make("p", "note level", table.scene ? table.dropped : say(phrases.readBy, { command: table.command })));
  const paper = make("main", "served", told, desk.element, make("div", "below", findings(table), collect(table, desk)));
  main.before(paper);
  document.title = `${table.source}: Recombine`;
  desk.hint(phrases.pointing);
  void desk.open();
  const { scene } = table;
  if (scene) return (open) => paintToo(open, table, scene, desk, main, paper);
  told.append(make("p", "note", table.unpainted));
  return () => undefined;
}

/** Two ways to look at a small table: what the program says of it, and the brush, opened when it is first asked for.
 * What stands behind the # says which of them, and what is seen there. */
function paintToo(open: typeof openPage, table: TableRecord, scene: string, desk: Desk, main: HTMLElement, paper: HTMLElement): void {
  let [opened, painting, painted] = [false, false, UNTOUCHED];
  const keep = (): void => {
    if (sceneAsked(location.hash, scene)) painted = location.hash;
    if (!painting) desk.keepLink();
  };
  const look = (brush: boolean): void => {
    keep();
    painting = brush;
    buttons.forEach((one, at) => one.setAttribute("aria-pressed", String((at === 1) === painting)));
    paper.hidden = painting;
    main.hidden = !painting;
    document.body.classList.toggle("asks", !painting);
    if (!painting) {
      keep();
      window.setTimeout(keep, KEPT);
      return;
    }
    history.replaceState(null, "", painted);
    if (opened) return;
    opened = true;
    open(sceneAsked(painted, scene) ?? scene);
    byId("copy").addEventListener("click", () => void copyServed()); // after the page's own, whose words are not enough here
  };
  const buttons = phrases.way.map((text, at) => button(text, () => look(at === 1)));
  const group = make("div", "choices ways", make("span", "", ...buttons));
  group.setAttribute("role", "group");
  group.setAttribute("aria-label", phrases.ways);
  document.querySelector(".brand")!.after(group);
  window.addEventListener("hashchange", (event) => {
    const [asked, whole] = [unpackLook(location.hash, table.factors.map(({ levels }) => levels)), sceneAsked(location.hash, scene)];
    if (asked) {
      event.stopImmediatePropagation(); // no scene: the brush could not read it
      look(false);
      void desk.turnTo(asked);
    } else if (whole) {
      look(true);
      history.replaceState(null, "", `#${whole}`); // where the brush, if it is open, reads it in its turn
    }
  });
  look(sceneAsked(location.hash, scene) !== null);
}

/** Copy the link of the painting, and say how far it reaches. */
async function copyServed(): Promise<void> {
  try {
    await navigator.clipboard.writeText(location.href);
    toast(phrases.copied);
  } catch {
    toast(phrases.notCopied);
  }
}

/** Ask for the table with the key that the link was traded for, and lay it out; say why not if there is none. */
async function laid(): Promise<(open: typeof openPage) => void> {
  const main = document.querySelector("main")!;
  main.hidden = true;
  document.body.classList.add("asks");
  document.querySelector<HTMLAnchorElement>(".skip")!.hidden = true;
  byId("about").parentElement!.lastElementChild!.textContent = phrases.stays;
  try {
    const asking = new Asking(localStorage.getItem("recombine-key") ?? "");
    return lay(await asking.ask<TableRecord>("table", {}), asking);
  } catch (error) {
    main.before(make("main", "served", make("p", "fault", error instanceof Error ? error.message : String(error))));
    return () => undefined;
  }
}

const ready = laid(); // asked for before the page's own script is read
window.recombineHost = (open) => void ready.then((paint) => paint(open));
