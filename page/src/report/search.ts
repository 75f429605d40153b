/** Which cells are asked for: words, verdicts, and a place of the map. */

import type { Book, EmbeddedPanel } from "./data.ts";

export interface Place {
  readonly panel: EmbeddedPanel;
  readonly down: number;
  readonly across: number;
}

export interface Question {
  readonly words: string;
  /** Verdicts that are left out. */
  readonly hidden: ReadonlySet<number>;
  readonly place: Place | null;
}

/** Return how many cells each verdict has among those that words and place leave, and the entries, the best match first. */
export function ask(book: Book, question: Question): { entries: number[]; counts: number[] } {
  const tokens = question.words.toLowerCase().split(/[\s,·]+/).filter(Boolean);
  // One number per token, factor and level: 2 for the level itself, 1 for a part of it, 0 for neither.
  const fits = tokens.map((token) =>
    book.data.factors.map(([, levels]) =>
      Uint8Array.from(levels, (level) => {
        const name = level.toLowerCase();
        return name === token ? 2 : name.includes(token) ? 1 : 0;
      }),
    ),
  );
  const counts = book.data.verdicts.map(() => 0);
  const ranked: [number[], Map<number, number[]>] = [[], new Map()];
  for (const entry of book.entries) {
    const levels = book.levels(entry);
    if (question.place && !stands(book, question.place, levels)) continue;
    let score = 0;
    const all = fits.every((factors) => {
      let best = 0;
      for (let factor = 0; factor < levels.length; factor++) best = Math.max(best, factors[factor]![levels[factor]!]!);
      score += best;
      return best > 0;
    });
    if (!all) continue;
    const code = book.codes[entry]!;
    counts[code]!++;
    if (question.hidden.has(code)) continue;
    const same = ranked[1].get(score);
    if (same) same.push(entry);
    else ranked[1].set(score, [entry]);
  }
  const scores = [...ranked[1].keys()].sort((one, two) => two - one);
  return { entries: scores.flatMap((score) => ranked[1].get(score)!), counts };
}

/** Whether a cell with these levels lies behind a place of the map. */
export function stands(book: Book, { panel, down, across }: Place, levels: readonly number[]): boolean {
  const [row, column] = panel.factors;
  for (const left of twins(book, row)) {
    for (const right of twins(book, column)) {
      if (left === right) continue;
      const [one, two] = [panel.bins[0][levels[left]!], panel.bins[1][levels[right]!]];
      if (one === down && two === across) return true;
      if (panel.triangle && one === across && two === down) return true;
    }
  }
  return false;
}

function twins(book: Book, factor: number): readonly number[] {
  return book.data.symmetric.find((group) => group.includes(factor)) ?? [factor];
}

/** Return the names of a place: level or bin of the factor down, and of the one across. */
export function placeName(book: Book, { panel, down, across }: Place): string {
  return [down, across]
    .map((at, side) => {
      const [name, levels] = book.data.factors[panel.factors[side]!]!;
      const label = panel.labels[side]?.[at] ?? levels[panel.bins[side]!.indexOf(at)] ?? "–";
      return `${name} ${label}`;
    })
    .join(", ");
}
