/** What is said beside the pictures: the cell in focus, the legend, what to collect, errors and slopes. */

import type { Suggestion } from "../engine/index.ts";
import * as phrases from "../generated/phrases.json";
import type { Errors, Following, Forecast } from "./analysis.ts";
import { button, byId, make, write } from "./elements.ts";
import { gapGradient, type Inks, LOOKS, tell, timeOf, valueGradient } from "./looks.ts";
import type { Scene } from "./scene.ts";
import { type Account, ADDING, ASSUMED, knownOf, say, suggestionText } from "./words.ts";

const VERDICTS = [0, 1, 2, 3] as const;

function chip(verdict: 0 | 1 | 2 | 3): HTMLElement {
  const element = make("span", `chip v${verdict}`, LOOKS[verdict]!.symbol);
  element.setAttribute("aria-hidden", "true");
  return element;
}

/** Say what there is to say about the cell in focus; without one, what to do. */
export function showAccount(account: Account | null, hint: string): void {
  const box = byId("say");
  if (!account) {
    box.replaceChildren(make("p", "head", hint), make("p", "note", phrases.pointing));
    return;
  }
  const head = make("p", "head", chip(account.verdict), make("span", "level", account.name), `: ${LOOKS[account.verdict]!.word}`);
  const parts: Node[] = [head, make("p", "", account.sentence)];
  if (account.terms.length) {
    const sum = make("p", "sum", "= ");
    for (const term of account.terms.slice(0, 24)) {
      const name = make("span", "term", term.sign ? `${term.sign} ` : "", make("span", "level", `y(${term.name})`));
      if (term.value) name.append(" ", make("i", "", term.value));
      sum.append(name, " ");
    }
    if (account.terms.length > 24) sum.append(`and ${account.terms.length - 24} more `);
    if (account.total) sum.append(make("b", "", `= ${account.total}`));
    if (account.oneOfMany) sum.append(make("span", "note", ` ${phrases.oneOfMany}`));
    parts.push(sum);
  }
  const facts = make("p", "facts");
  for (const [name, value] of account.facts) facts.append(make("span", "", `${name} `, make("b", "", value)));
  if (account.facts.length) parts.push(facts);
  box.replaceChildren(...parts);
}

export function showLegend({ order }: Scene, following: Following): void {
  const { counts } = following.found;
  const list = byId("legend");
  list.replaceChildren(
    ...VERDICTS.filter((verdict) => counts[verdict] || verdict < 3).map((verdict) => {
      const item = make("li", "", chip(verdict), `${LOOKS[verdict]!.word} `, make("b", "", String(counts[verdict])));
      item.title = LOOKS[verdict]!.meaning.replace("{assumption}", ASSUMED[order]!);
      return item;
    }),
  );
}

/** The scale of colours with its ends. */
export function showScale(scene: Scene, following: Following): void {
  const bar = make("i");
  bar.style.background = `linear-gradient(to right, ${valueGradient()})`;
  const [least, most] = following.limits;
  byId("scale").replaceChildren(tell(least), bar, tell(most), make("span", "", scene.truth.unit));
}

/** How far the network is off where adding is right, in one line below its picture. */
export function showMiss(scene: Scene, errors: readonly Errors[], following: Following, inks: Inks): void {
  const box = byId("netfoot");
  if (scene.show === "misses") {
    const most = tell((following.limits[1] - following.limits[0]) / 2);
    const bar = make("i");
    bar.style.background = `linear-gradient(to right, ${gapGradient(timeOf(inks))})`;
    box.replaceChildren(make("span", "ends", `−${most}`, bar, `+${most}`, ` ${phrases.gap}`));
    return;
  }
  const row = errors.find((one) => one.verdict === 1 && one.cells && Number.isFinite(one.network));
  if (!row) return write(box, "");
  const over = knownOf(row);
  box.replaceChildren("off by ", make("b", "", row.network.toFixed(2)), ` on ${over && `${over} `}determined cells; ${ADDING[scene.order]} by `, make("b", "", Number.isFinite(row.adding) ? row.adding.toFixed(2) : "–"));
}

export function showNext(scene: Scene, suggestions: readonly Suggestion[] | null, take: (cell: number) => void): void {
  const list = byId("next");
  list.hidden = !suggestions;
  if (!suggestions) return;
  if (!suggestions.length) {
    list.replaceChildren(make("li", "note", phrases.nothingToCollect));
    return;
  }
  list.replaceChildren(...suggestions.map((one) => make("li", "", button(suggestionText(scene, one), () => take(one.cell)))));
}

/** The errors on unseen cells by verdict, with a bar for each against the largest. */
export function showErrors(scene: Scene, errors: readonly Errors[]): void {
  const box = byId("errors");
  const rows = errors.filter((row) => row.cells && Number.isFinite(row.mean));
  if (!rows.length) {
    box.replaceChildren(
      make("p", "note", scene.truth.kind === "table" ? phrases.eraseValue : phrases.eraseSome),
    );
    return;
  }
  const most = Math.max(...rows.flatMap((row) => [row.adding, row.network, row.mean].filter(Number.isFinite)), 1e-12);
  const cell = (value: number, scale = true): HTMLElement => {
    const entry = make("td", "", Number.isFinite(value) ? value.toFixed(2) : "–");
    if (scale) {
      const bar = make("i");
      bar.style.width = `${Number.isFinite(value) ? Math.round((100 * value) / most) : 0}%`;
      entry.append(make("span", "meter", bar));
    }
    return entry;
  };
  const unit = scene.truth.unit ? ` (${scene.truth.unit})` : "";
  const table = make(
    "table",
    "",
    make("caption", "", phrases.errors + unit),
    make("thead", "", make("tr", "", make("th"), make("th", "", ADDING[scene.order]!), make("th", "", "network"), make("th", "", "mean"))),
    make(
      "tbody",
      "",
      ...rows.map((row) => {
        const verdict = row.verdict as 1 | 2 | 3;
        return make("tr", "", make("th", "", make("span", "whole", chip(verdict), LOOKS[verdict]!.word), make("span", "note", knownOf(row) && `, ${knownOf(row)}`)), cell(row.adding), cell(row.network), cell(row.mean));
      }),
    ),
  );
  box.replaceChildren(table);
}

/** Say in a sentence how much of each effect arrives at unseen cells, and which factor is a shortcut. */
export function showSlopes(scene: Scene, forecast: Forecast | null, [least, most]: readonly [number, number]): void {
  const box = byId("slopes");
  if (!forecast || forecast.problem) return write(box, forecast?.problem ?? "");
  const { slopes } = forecast;
  if (!slopes) return write(box, scene.order > 1 ? "" : phrases.tooFewSlopes);
  const known = scene.factors.map((factor, place) => [factor.name, slopes.slopes[place]!] as const).filter(([, slope]) => Number.isFinite(slope));
  if (!known.length) return write(box, "");
  const parts: (Node | string)[] = [phrases.slopes];
  known.forEach(([name, slope], at) => parts.push(at ? ", " : "", make("span", "level", name), " ", make("b", "", `${Math.round(100 * slope)} %`)));
  parts.push(".");
  const shortcut = scene.factors
    .map((factor, place) => ({ name: factor.name, share: slopes.shortcutShares[place]!, size: slopes.shortcutSizes[place]! }))
    .filter(({ share, size }) => share > 0.25 && size > 0.05 * (most - least))
    .sort((one, two) => two.share - one.share)[0];
  if (shortcut) parts.push(" Shortcut: ", make("b", "level", shortcut.name), ` ${say(phrases.shortcut, { size: tell(shortcut.size, 2) })}`);
  box.replaceChildren(...parts);
}
