/** Which cells do the seen ones determine, if effects add at the model's order? */

import { graphVerdicts, isGraph } from "./components.ts";
import { type Conjunctions, conjunctionsOf, fullRank } from "./conjunctions.ts";
import { type NullSpace, nullSpace } from "./nullspace.ts";
import { canonicalOf, checkModel, everyArrangement, levelTable, presentLevels } from "./product.ts";
import { residue } from "./residues.ts";
import { type Identification, type Mask, type Model, Verdict } from "./types.ts";

/** Say of every cell whether it was seen, follows, or does not. `seen` may be changed later: it is copied. */
export function identify(model: Model, seen: Mask): Identification {
  checkModel(model, seen);
  const whole = model.symmetric?.length ? everyArrangement(model, seen) : seen.slice();
  const present = presentLevels(model, whole);
  const levels = present.map((mask) => mask.reduce((total, one) => total + one, 0));
  // No level present at all: nothing was seen, and nothing spans anything.
  const bound = levels[0] === 0 ? 0 : fullRank(model, levels);
  const route = isGraph(model) ? "graph" : "exact";
  const found =
    route === "graph" ? graphVerdicts(model, whole, present) : exactVerdicts(model, whole, present, bound);
  return {
    model,
    seen: whole,
    verdicts: found.verdicts,
    counts: countVerdicts(model, found.verdicts),
    rank: found.rank,
    deficit: bound - found.rank,
    route,
  };
}

/** Return the cells of a mask, one of each arrangement, ascending. */
export function cellsOf(model: Model, seen: Mask): Int32Array {
  const found: number[] = [];
  for (let cell = 0; cell < seen.length; cell++) if (seen[cell] && canonicalOf(model, cell) === cell) found.push(cell);
  return Int32Array.from(found);
}

/** Return the null space of a model's seen cells. */
export function nullSpaceOf(model: Model, features: Conjunctions, seen: Mask, bound: number): NullSpace {
  return nullSpace(features, cellsOf(model, seen), bound, !model.symmetric?.length);
}

function exactVerdicts(
  model: Model,
  seen: Mask,
  present: readonly Uint8Array[],
  bound: number,
): { verdicts: Uint8Array; rank: number } {
  const features = conjunctionsOf(model);
  const space = nullSpaceOf(model, features, seen, bound);
  const { ids, width } = features;
  const verdicts = new Uint8Array(seen.length).fill(Verdict.DETERMINED);
  for (const prime of space.primes) {
    const vector = space.draw(prime);
    for (let cell = 0, at = 0; cell < seen.length; cell++) {
      let sum = 0;
      for (let end = at + width; at < end; at++) sum += vector[ids[at]!]!;
      if (residue(sum, prime) !== 0) verdicts[cell] = Verdict.DISCONNECTED;
    }
  }
  markOpen(model, verdicts, present);
  for (let cell = 0; cell < seen.length; cell++) if (seen[cell]) verdicts[cell] = Verdict.SEEN;
  return { verdicts, rank: space.rank };
}

function markOpen(model: Model, verdicts: Uint8Array, present: readonly Uint8Array[]): void {
  if (present.every((mask) => mask.every((one) => one === 1))) return;
  const table = levelTable(model.sizes);
  const cells = verdicts.length;
  present.forEach((mask, factor) => {
    for (let cell = 0; cell < cells; cell++) {
      if (!mask[table[factor * cells + cell]!]) verdicts[cell] = Verdict.UNSEEN_LEVEL;
    }
  });
}

function countVerdicts(model: Model, verdicts: Uint8Array): [number, number, number, number] {
  const counts: [number, number, number, number] = [0, 0, 0, 0];
  const twins = Boolean(model.symmetric?.length);
  for (let cell = 0; cell < verdicts.length; cell++) {
    if (!twins || canonicalOf(model, cell) === cell) counts[verdicts[cell] as 0 | 1 | 2 | 3]++;
  }
  return counts;
}
