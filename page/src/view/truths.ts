/** What is true of every cell, and what was measured at the seen ones. */

import { levelsOf, productOf } from "../engine/index.ts";
import { truths } from "../generated/vocabulary.json";
import { parseFormula } from "./formula.ts";
import { type Scene, sizesOf, type TruthKind } from "./scene.ts";

export const TRUTH_WORDS: Readonly<Record<TruthKind, string>> = truths;

/** Return one number per cell, NaN where nothing can be true (an item is not before or after itself). */
export function truthValues(scene: Scene): Float64Array {
  const { truth } = scene;
  const sizes = sizesOf(scene);
  if (truth.kind === "table" && truth.table) return truth.table;
  const of = ruleOf(scene, sizes);
  const numbers = levelNumbers(scene);
  const values = new Float64Array(productOf(sizes));
  const worth = new Float64Array(sizes.length);
  for (let cell = 0; cell < values.length; cell++) {
    const levels = levelsOf(sizes, cell);
    levels.forEach((level, factor) => (worth[factor] = numbers[factor]![level]!));
    values[cell] = of(levels, worth);
  }
  return values;
}

/** Return what is to be said of a formula's values: where there is none; empty if every cell has one. */
export function gapsOf(values: Float64Array): string {
  const gaps = values.reduce((count, value) => count + +!Number.isFinite(value), 0);
  if (gaps === values.length) return "the formula has no finite value at any cell";
  return gaps ? `the formula has no finite value at ${gaps} of ${values.length} cells` : "";
}

type Rule = (levels: readonly number[], worth: Float64Array) => number;

function ruleOf(scene: Scene, sizes: readonly number[]): Rule {
  const half = (level: number, factor: number): number => (level < sizes[factor]! / 2 ? -1 : 1);
  switch (scene.truth.kind) {
    case "curve": {
      const spread = Math.sqrt(sizes.reduce((total, size) => total + (size * size - 1) / 12, 0)) || 1;
      return (levels) => {
        const sum = levels.reduce((total, level, factor) => total + level - (sizes[factor]! - 1) / 2, 0);
        return 10 / (1 + Math.exp((-1.5 * sum) / spread));
      };
    }
    case "context":
      // The first factor says which of the other two decides; of two factors it turns the answer round.
      return sizes.length > 2
        ? (levels) => (half(levels[0]!, 0) < 0 ? half(levels[1]!, 1) : half(levels[2]!, 2))
        : (levels) => half(levels[0]!, 0) * half(levels[1]!, 1);
    case "equivalence":
      return (levels) => half(levels[0]!, 0) * half(levels[1]!, 1);
    case "ordering":
      return (levels) => (levels[0] === levels[1] ? NaN : Math.sign(levels[1]! - levels[0]!));
    case "formula": {
      const formula = parseFormula(scene.truth.formula, sizes.length);
      return (_, worth) => formula(worth);
    }
    default:
      return (_, worth) => worth.reduce((total, value) => total + value, 0);
  }
}

/** What each level is worth: its name where all names of the factor are numbers, else its place, counted from 1. */
function levelNumbers(scene: Scene): number[][] {
  return scene.factors.map(({ levels }) => {
    const numbers = levels.map((name) => Number(name.replace("−", "-")));
    return numbers.every(Number.isFinite) ? numbers : levels.map((_, level) => level + 1);
  });
}

/** The truth of every cell and what would be measured there, kept while the brush moves. */
export interface TruthTable {
  readonly scene: Scene;
  readonly truth: Float64Array;
  readonly outcome: Float64Array;
}

/** Return the truth of a scene; the last one where nothing it rests on has changed. */
export function readTruth(scene: Scene, last: TruthTable | null = null): TruthTable {
  const same = last && last.scene.truth === scene.truth && last.scene.factors === scene.factors && last.scene.noise === scene.noise;
  if (same) return last;
  const truth = truthValues(scene);
  return { scene, truth, outcome: scene.truth.kind === "table" ? truth : measured(truth, scene.noise) };
}

/** Return what was measured: the truth with noise on it, the same at every look. */
export function measured(values: Float64Array, noise: number): Float64Array {
  return noise ? values.map((value, cell) => value + noise * normalOf(cell)) : values;
}

/** A standard normal number that belongs to a cell. */
function normalOf(cell: number): number {
  const one = mixed(2 * cell + 1);
  const two = mixed(2 * cell + 2);
  return Math.sqrt(-2 * Math.log(1 - one)) * Math.cos(2 * Math.PI * two);
}

/** A number in [0, 1) that looks drawn at random. */
export function mixed(seed: number): number {
  let bits = (seed * 0x9e3779b1) | 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return ((bits ^ (bits >>> 16)) >>> 0) / 2 ** 32;
}
