/** How long the engine takes, in node (`npm run speed`) and in a browser (`npm run speed:browser`, which reads the page
 * this writes). The first call pays for compiling, the
 * least time is what a quiet machine takes, and the median is judged. */

import {
  certificate,
  fitAdditive,
  fitLink,
  identify,
  leverages,
  type Mask,
  type Model,
  overlapKernel,
  predictNetwork,
  suggest,
  Verdict,
} from "../src/engine/index.ts";
import { Draws } from "../src/engine/residues.ts";

interface Case {
  readonly name: string;
  readonly model: Model;
  readonly share: number;
  /** Milliseconds the verdicts may take; none for sizes that are only watched. */
  readonly goal?: number;
}

const CASES: Case[] = [
  { name: "50 x 50, a quarter seen", model: { sizes: [50, 50], order: 1 }, share: 0.25, goal: 4 },
  { name: "100 x 100, half seen", model: { sizes: [100, 100], order: 1 }, share: 0.5, goal: 5 },
  { name: "100 x 100, 1 in 50 seen", model: { sizes: [100, 100], order: 1 }, share: 0.02, goal: 5 },
  { name: "12^3 at order 2, half seen", model: { sizes: [12, 12, 12], order: 2 }, share: 0.5, goal: 100 },
  { name: "12^3 at order 2, 0.27 seen", model: { sizes: [12, 12, 12], order: 2 }, share: 0.27, goal: 100 },
  { name: "12^3 at order 2, 0.9 seen", model: { sizes: [12, 12, 12], order: 2 }, share: 0.9, goal: 100 },
  { name: "6^4 at order 3, 0.8 seen", model: { sizes: [6, 6, 6, 6], order: 3 }, share: 0.8 },
];
const REPEATS = 25;

function drawMask({ model, share }: Case, seed: number): Mask {
  const draws = new Draws(seed + 1);
  return Uint8Array.from({ length: model.sizes.reduce((all, size) => all * size, 1) }, () => +(draws.next(1000) < 1000 * share));
}

function timed(action: () => void): number {
  const start = performance.now();
  action();
  return performance.now() - start;
}

const median = (times: number[]): number => times.sort((one, two) => one - two)[times.length >> 1]!;
const written = (milliseconds: number): string => milliseconds.toFixed(2).padStart(9);

function verdictLine(one: Case): string {
  const masks = Array.from({ length: REPEATS }, (_, seed) => drawMask(one, seed));
  const times = masks.map((mask) => timed(() => identify(one.model, mask)));
  const [first, least, middle] = [times[0]!, Math.min(...times), median(times)];
  const judged = one.goal === undefined ? "" : `  goal ${one.goal} ms: ${middle < one.goal ? "met" : "MISSED"}`;
  return `verdicts   ${one.name.padEnd(28)} first ${written(first)} ms, least ${written(least)} ms, median ${written(middle)} ms${judged}`;
}

function otherLines(one: Case): string[] {
  const mask = drawMask(one, 0);
  const found = identify(one.model, mask);
  const outcome = Float64Array.from(mask, (_, cell) => Math.sin(cell) * 10);
  const kernel = overlapKernel("ntk", 3, one.model.sizes.length);
  const determined = found.verdicts.indexOf(Verdict.DETERMINED);
  const actions: [string, () => unknown][] = [
    ["leverages", () => leverages(found)],
    ["additive", () => fitAdditive(found, outcome)],
    ["network", () => predictNetwork(one.model, mask, outcome, kernel)],
    ["certificate", () => certificate(found, determined)],
    ["suggest 3", () => suggest(found, 3)],
  ];
  if (one.model.order === 1) actions.push(["curve", () => fitLink(found, outcome)]);
  return actions.map(([what, action]) => {
    const middle = median(Array.from({ length: 3 }, () => timed(action)));
    return `${what.padEnd(10)} ${one.name.padEnd(28)} ${"".padStart(41)} median ${written(middle)} ms`;
  });
}

const lines = [...CASES.map(verdictLine), ...[CASES[0]!, CASES[1]!, CASES[3]!].flatMap(otherLines)];
const text = `${lines.join("\n")}\n`;
if (typeof document === "undefined") console.log(text);
else document.body.append(Object.assign(document.createElement("pre"), { textContent: text }));
