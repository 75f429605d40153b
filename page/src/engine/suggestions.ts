/** What to collect next: cells that determine the most others, then cells that lower the variance most.
 *
 * Measuring one cell determines just those whose values under the null vectors are parallel to its own. Two factors at
 * order 1: those that join the same two components. */

import { isGraph, levelComponents } from "./components.ts";
import { conjunctionsOf, fullRank } from "./conjunctions.ts";
import { cellsOf, nullSpaceOf } from "./identify.ts";
import { canonicalOf, levelsOf, mayCollect } from "./product.ts";
import { invert, multiply, residue } from "./residues.ts";
import { type Identification, type Suggestion, Verdict } from "./types.ts";
import { sharpen } from "./variance.ts";

/** Cells that all fall by less than this together are not worth proposing. */
const ENOUGH = 0.01;

/** Return the next `count` cells to collect; `weights` says how often each seen cell was measured. */
export function suggest(found: Identification, count: number, weights?: ArrayLike<number>): Suggestion[] {
  const { model } = found;
  const open: number[] = [];
  found.verdicts.forEach((verdict, cell) => {
    if (verdict >= Verdict.DISCONNECTED && canonicalOf(model, cell) === cell) open.push(cell);
  });
  const { picks, left } = connect(found, open, count, weights);
  if (picks.length < count) {
    const opened = new Set(left);
    const determined = new Uint8Array(found.seen.length);
    found.verdicts.forEach((verdict, cell) => {
      if (verdict >= Verdict.DETERMINED && canonicalOf(model, cell) === cell && !opened.has(cell)) determined[cell] = 1;
    });
    for (const { cell } of picks) determined[cell] = 0;
    const { more, lowered } = sharpen(found, picks.map(({ cell }) => cell), determined, count - picks.length, weights);
    if (!open.length && lowered < ENOUGH) return [];
    picks.push(...more);
  }
  return picks;
}

/** Pick cells until all that can be are determined or enough are picked; also return those that stay open. */
function connect(
  found: Identification,
  open: readonly number[],
  count: number,
  weights?: ArrayLike<number>,
): { picks: Suggestion[]; left: readonly number[] } {
  const picks: Suggestion[] = [];
  if (!open.length) return { picks, left: open };
  const graph = isGraph(found.model) && !found.model.symmetric?.length;
  const groups = graph ? new Joins(found) : new Parallels(found, open, count);
  const ranked = rankCells(found, open, weights);
  let left = open;
  while (picks.length < count) {
    const best = largestGroup(groups, left, ranked);
    if (!best) break;
    const { cell, members } = best;
    picks.push({ cell, reason: "connect", gain: members.length - 1, settles: members.filter((one) => one !== cell) });
    groups.collect(cell);
    left = left.filter((one) => groups.key(one) !== null);
  }
  return { picks, left };
}

/** Return the cells that may be collected, those of well-known levels first, as the place of each cell; others have none. */
function rankCells(found: Identification, open: readonly number[], weights?: ArrayLike<number>): Map<number, number> {
  const { model } = found;
  const counts = model.sizes.map((size) => new Float64Array(size));
  for (const cell of cellsOf(model, found.seen)) {
    levelsOf(model.sizes, cell).forEach((level, factor) => (counts[factor]![level]! += weights ? weights[cell]! : 1));
  }
  // Rounded, so that the order does not hang on the last digit of a logarithm.
  const known = (cell: number): number =>
    Math.round(1e9 * levelsOf(model.sizes, cell).reduce((sum, level, factor) => sum + Math.log1p(counts[factor]![level]!), 0));
  const scored = open.filter((cell) => mayCollect(model, cell)).map((cell) => [cell, known(cell)] as const);
  scored.sort((one, two) => two[1] - one[1] || one[0] - two[0]);
  return new Map(scored.map(([cell], place) => [cell, place]));
}

interface Groups {
  /** Return what the cells share that one of them determines; null for a cell that is determined. */
  key(cell: number): number | null;
  collect(cell: number): void;
}

function largestGroup(
  groups: Groups,
  open: readonly number[],
  ranked: ReadonlyMap<number, number>,
): { cell: number; members: number[] } | null {
  const byKey = new Map<number, number[]>();
  for (const cell of open) {
    const key = groups.key(cell);
    if (key === null) continue;
    const members = byKey.get(key);
    if (members) members.push(cell);
    else byKey.set(key, [cell]);
  }
  let best: { cell: number; place: number; members: number[] } | null = null;
  for (const members of byKey.values()) {
    if (best && members.length < best.members.length) continue;
    let [cell, place] = [-1, Infinity];
    for (const one of members) {
      const at = ranked.get(one) ?? Infinity;
      if (at < place) [cell, place] = [one, at];
    }
    if (cell < 0) continue;
    if (!best || members.length > best.members.length || place < best.place) best = { cell, place, members };
  }
  return best;
}

/** Two factors at order 1: a cell joins two components, and all that join the same two are one group. */
class Joins implements Groups {
  readonly #components;
  readonly #sizes: readonly number[];

  constructor(found: Identification) {
    this.#components = levelComponents(found.model, found.seen);
    this.#sizes = found.model.sizes;
  }

  key(cell: number): number | null {
    const [one, two] = this.#ends(cell);
    return one === two ? null : Math.min(one, two) * (this.#sizes[0]! + this.#sizes[1]!) + Math.max(one, two);
  }

  collect(cell: number): void {
    this.#components.join(...this.#ends(cell));
  }

  #ends(cell: number): [number, number] {
    const [first, second] = this.#sizes as [number, number];
    return [this.#components.find(Math.floor(cell / second)), this.#components.find(first + (cell % second))];
  }
}

/** Any other model: cells are one group if their values under random null vectors have one ratio, modulo two primes. */
class Parallels implements Groups {
  readonly #row = new Map<number, number>();
  /** Values at the open cells, vector by vector, for each prime. */
  #values: { prime: number; vectors: Float64Array[] }[];

  constructor(found: Identification, open: readonly number[], count: number) {
    open.forEach((cell, row) => this.#row.set(cell, row));
    const features = conjunctionsOf(found.model);
    const { ids, width } = features;
    const space = nullSpaceOf(found.model, features, found.seen, fullRank(found.model, found.model.sizes));
    this.#values = space.primes.map((prime) => ({
      prime,
      vectors: Array.from({ length: count + 2 }, () => {
        const vector = space.draw(prime);
        return Float64Array.from(open, (cell) => {
          let sum = 0;
          for (let at = cell * width; at < (cell + 1) * width; at++) sum += vector[ids[at]!]!;
          return residue(sum, prime);
        });
      }),
    }));
  }

  key(cell: number): number | null {
    const row = this.#row.get(cell)!;
    let key = 0;
    let zero = true;
    for (const { prime, vectors } of this.#values) {
      const [first, second] = [vectors[0]![row]!, vectors[1]![row]!];
      zero &&= first === 0 && second === 0;
      key = key * 2 ** 26 + (second === 0 ? prime : multiply(first, invert(second, prime), prime));
    }
    return zero ? null : key;
  }

  collect(cell: number): void {
    const row = this.#row.get(cell)!;
    this.#values = this.#values.map(({ prime, vectors }) => {
      const pivot = vectors.findIndex((vector) => vector[row] !== 0);
      const scale = invert(vectors[pivot]![row]!, prime);
      const rest = vectors.filter((_, at) => at !== pivot);
      return {
        prime,
        vectors: rest.map((vector) => {
          const ratio = prime - multiply(vector[row]!, scale, prime);
          return vector.map((value, at) => residue(value + ratio * vectors[pivot]![at]!, prime));
        }),
      };
    });
  }
}
