/** Certificates: signed seen cells that add up to an unseen one.
 *
 * Two factors at order 1: a shortest path, so that no certificate is shorter. Else a single cube of cells, the shortest
 * relation there is at any order; where there is none, the cells nearest to the target that are independent and reach
 * it, which no cell can be left out of. Every certificate is checked in whole numbers before it is returned. */

import { circuitTerms } from "./circuits.ts";
import { isGraph } from "./components.ts";
import { conjunctionsOf } from "./conjunctions.ts";
import { cubeTerms } from "./cubes.ts";
import { canonicalOf } from "./product.ts";
import { addWeight, balances, type Weights } from "./weights.ts";
import { type Certificate, type Identification, type Term, Verdict } from "./types.ts";

/** Return signed seen cells that add up to a seen or determined cell; null for any other. */
export function certificate(found: Identification, cell: number): Certificate | null {
  const { model, seen, verdicts } = found;
  const target = canonicalOf(model, cell);
  if (verdicts[target]! > Verdict.DETERMINED) return null;
  if (seen[target]) return { cell: target, terms: [{ cell: target, numerator: 1, denominator: 1 }], path: [target] };
  if (isGraph(model)) {
    const { weights, path } = pathTerms(found, target);
    return written(target, weights, path);
  }
  const features = conjunctionsOf(model);
  for (const find of [cubeTerms, circuitTerms]) {
    const weights = find(found, features, target);
    if (weights && balances(features, target, weights)) return written(target, weights, []);
  }
  throw new Error(`no sum of seen cells was found for cell ${cell}, though it is determined`);
}

/** Return the value that a certificate gives, from outcomes of all cells. */
export function certificateValue(proof: Certificate, outcome: ArrayLike<number>): number {
  return proof.terms.reduce((sum, { cell, numerator, denominator }) => sum + (numerator / denominator) * outcome[cell]!, 0);
}

function written(cell: number, weights: Weights, path: readonly number[]): Certificate {
  const terms: Term[] = [...weights].map(([one, { numerator, denominator }]) => ({
    cell: one,
    numerator: Number(numerator),
    denominator: Number(denominator),
  }));
  terms.sort((one, two) => Number(one.numerator < 0) - Number(two.numerator < 0));
  return { cell, terms, path };
}

/** Two factors: walk from the cell's first level to its second; signs alternate. Of interchangeable factors, where no
 * such walk is, half the sum of two closed ones. */
function pathTerms(found: Identification, target: number): { weights: Weights; path: number[] } {
  const [first, second] = found.model.sizes as [number, number];
  const [left, right] = [Math.floor(target / second), target % second];
  const weights: Weights = new Map();
  const path = walk(found, left, first + right);
  const walks = path ? [path] : [walk(found, left, first + left), walk(found, right, first + right)];
  for (const cells of walks) {
    cells!.forEach((cell, step) => addWeight(weights, canonicalOf(found.model, cell), step % 2 ? -1n : 1n, path ? 1n : 2n));
  }
  return { weights, path: path ?? [] };
}

/** Return the seen cells along a shortest walk between two nodes (levels of the second factor after the first's). */
function walk(found: Identification, from: number, to: number): number[] | null {
  const [first, second] = found.model.sizes as [number, number];
  const { seen } = found;
  const before = new Int32Array(first + second).fill(-1);
  before[from] = from;
  const queue = [from];
  for (let at = 0; at < queue.length && before[to]! < 0; at++) {
    const node = queue[at]!;
    const left = node < first;
    for (let other = 0; other < (left ? second : first); other++) {
      const next = left ? first + other : other;
      if (before[next]! < 0 && seen[left ? node * second + other : other * second + node - first]) {
        before[next] = node;
        queue.push(next);
      }
    }
  }
  if (before[to]! < 0) return null;
  const cells: number[] = [];
  for (let node = to; node !== from; node = before[node]!) {
    const [one, two] = node < first ? [node, before[node]!] : [before[node]!, node];
    cells.push(one * second + two - first);
  }
  return cells.reverse();
}
