/** The designs that Python answered, and how close numbers must be to its own. */

import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import type { Mask, Model } from "../src/engine/index.ts";

type Numbers = (number | null)[];

interface StoredSlopes {
  ntk: Numbers;
  nngp: Numbers;
  effect: Numbers;
  pull: Numbers;
  size: Numbers;
  share: Numbers;
}

export interface Stored {
  kind: string;
  sizes: number[];
  order: number;
  symmetric: number[][];
  seen: string;
  outcome: number[];
  /** How often each cell was measured; null for once. */
  weights: number[] | null;
  verdicts: string;
  rank: number;
  deficit: number;
  leverage: Numbers;
  additive: Numbers;
  certificates: number[];
  picks: [number, "connect" | "sharpen", number][];
  networks?: {
    depth: number;
    ntk: { kernel: number[]; predictions: number[] };
    nngp: { kernel: number[]; predictions: number[] };
    slopes: StoredSlopes | null;
    "slopes with truth"?: StoredSlopes;
  };
  link?: { order: number; values: Numbers; knots: number; rounds: number; noise: number } | null;
}

/** Return the 500 designs; tests run in the folder of the package. */
export function storedDesigns(): Stored[] {
  return JSON.parse(gunzipSync(readFileSync("test/vectors/designs.json.gz")).toString()) as Stored[];
}

export function modelOf({ sizes, order, symmetric }: Stored): Model {
  return { sizes, order, symmetric };
}

export function maskOf(digits: string): Mask {
  return Uint8Array.from(digits, Number);
}

/** Return the largest difference of two lists, as a share of the largest number (or of one); infinite where one list has
 * a number and the other has none. */
export function apart(found: ArrayLike<number>, wanted: Numbers): number {
  if (found.length !== wanted.length) return Infinity;
  const size = Math.max(1, ...wanted.map((value) => Math.abs(value ?? 0)));
  let worst = 0;
  wanted.forEach((value, at) => {
    const gap = value === null ? (Number.isNaN(found[at]) ? 0 : Infinity) : Math.abs(found[at]! - value) / size;
    worst = Math.max(worst, Number.isNaN(gap) ? Infinity : gap);
  });
  return worst;
}
