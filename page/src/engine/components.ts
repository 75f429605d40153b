/** Two factors at order 1: levels are nodes, seen cells are edges, and connected means determined. */

import type { Mask, Model } from "./types.ts";
import { Verdict } from "./types.ts";

/** Say whether connectivity decides. */
export function isGraph(model: Model): boolean {
  return model.sizes.length === 2 && model.order === 1;
}

/** Disjoint sets of nodes 0, 1, ... */
export class Components {
  readonly parent: Int32Array;
  count: number;

  constructor(nodes: number) {
    this.parent = new Int32Array(nodes);
    for (let node = 0; node < nodes; node++) this.parent[node] = node;
    this.count = nodes;
  }

  /** Return the node that stands for this one's component. */
  find(node: number): number {
    const { parent } = this;
    let at = node;
    while (parent[at] !== at) {
      parent[at] = parent[parent[at]!]!; // halving paths keeps them short without a second pass
      at = parent[at]!;
    }
    return at;
  }

  join(one: number, two: number): void {
    const left = this.find(one);
    const right = this.find(two);
    if (left === right) return;
    if (left < right) this.parent[right] = left;
    else this.parent[left] = right;
    this.count--;
  }

  /** Return every node's component, by its smallest node. */
  labels(): Int32Array {
    return Int32Array.from(this.parent, (_, node) => this.find(node));
  }
}

/** Levels of both factors as nodes (those of the second after those of the first), joined by the seen cells. Of
 * interchangeable factors every level is a node on either side: the mask then holds both orders. */
export function levelComponents(model: Model, seen: Mask): Components {
  const [first, second] = model.sizes as [number, number];
  const components = new Components(first + second);
  for (let left = 0, cell = 0; left < first; left++) {
    for (let right = 0; right < second; right++, cell++) if (seen[cell]) components.join(left, first + right);
  }
  return components;
}

/** Return the verdicts of all cells and the rank of the seen ones. */
export function graphVerdicts(
  model: Model,
  seen: Mask,
  present: readonly Uint8Array[],
): { verdicts: Uint8Array; rank: number } {
  const [first, second] = model.sizes as [number, number];
  const components = levelComponents(model, seen);
  const label = components.labels();
  const verdicts = new Uint8Array(first * second);
  // A level of interchangeable factors that meets itself on both sides (an odd cycle) has a known effect of its own.
  const own = new Uint8Array(first);
  if (model.symmetric?.length) for (let level = 0; level < first; level++) own[level] = +(label[level] === label[first + level]);
  for (let left = 0, cell = 0; left < first; left++) {
    for (let right = 0; right < second; right++, cell++) {
      if (seen[cell]) verdicts[cell] = Verdict.SEEN;
      else if (!present[0]![left] || !present[1]![right]) verdicts[cell] = Verdict.UNSEEN_LEVEL;
      else if (label[left] === label[first + right] || (own[left] && own[right])) verdicts[cell] = Verdict.DETERMINED;
      else verdicts[cell] = Verdict.DISCONNECTED;
    }
  }
  if (!model.symmetric?.length) return { verdicts, rank: first + second - components.count };
  const pairs = new Set<number>(); // each two-sided component appears twice, once mirrored
  for (let level = 0; level < first; level++) if (!own[level]) pairs.add(Math.min(label[level]!, label[first + level]!));
  return { verdicts, rank: first - pairs.size };
}
