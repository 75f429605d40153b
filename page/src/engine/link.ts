/** Effects that add on a hidden scale and are bent by one increasing curve on the way out: the same rounds as Python's
 * `fit_link`, one Gauss-Newton step on effects and curve together and then the curve refitted, with shrinkage and
 * smoothness chosen by evidence. What is left out is its way of starting large tables from a part of their cells. */

import {
  addPoint,
  curveAt,
  FLATTEST,
  fromSums,
  gramOf,
  heightsOf,
  increasing,
  noSums,
  type Pieces,
  piecesOf,
  productsOf,
  roughness,
  steepnessOf,
} from "./curve.ts";
import { cholesky, choleskySolve, dot, inverseEntry, times, turnedInverse } from "./dense.ts";
import { cellsOf } from "./identify.ts";
import { diagonalMean, fitTerms, keptPerOrder, LEAST, nextRidge, type Observed } from "./shrinkage.ts";
import { termsOf } from "./terms.ts";
import { type Curve, type Identification, type LinkFit, TooLarge } from "./types.ts";

const ROUNDS = 40;
const SETTLED = 1e-4;
const KNOTS = 40;
const CELLS_PER_KNOT = 8;
/** Rounds in which the knots follow the hidden sums. */
const MOVING = 6;
const STEADY = 0.01;
/** What an effect counts when noise is estimated: above one, so that few cells do not pass for noiseless ones. */
const CAUTION = 1.4;
const TRIED = [1, 0.5, 0.2, 0.05];
/** Terms up to which the page fits a curve: a second. */
export const MOST_TERMS = 300;

/** Fit effects and curve; null where cells or outcomes do not differ. */
export function fitLink(found: Identification, outcome: ArrayLike<number>, weights?: ArrayLike<number>): LinkFit | null {
  const { model } = found;
  const cells = cellsOf(model, found.seen);
  const terms = termsOf(model, cells);
  if (terms.columns > MOST_TERMS) {
    throw new TooLarge(`a curve over ${terms.columns} terms is too large for the page; use recombine audit or a lower order`);
  }
  const y = Float64Array.from(cells, (cell) => outcome[cell]!);
  if (!terms.columns || y.every((value) => value === y[0])) return null;
  const counted = Float64Array.from(cells, (cell) => (weights ? weights[cell]! : 1));
  const mean = counted.reduce((sum, weight) => sum + weight, 0) / counted.length;
  const rows = Array.from(cells, (cell) => terms.of(cell)!);
  const rounds = new Rounds({ terms, order: model.order, rows, y, weights: counted.map((weight) => weight / mean) });
  const { state, done } = rounds.run();
  const sums = Float64Array.from(found.seen, (_, cell) => terms.of(cell)?.reduce((sum, at) => sum + state.effects[at]!, 0) ?? NaN);
  const curve: Curve = { knots: state.pieces.knots, start: state.bent[0]!, slopes: state.bent.slice(1) };
  const known = sums.filter((sum) => !Number.isNaN(sum));
  const heights = curveAt(curve, known);
  let next = 0;
  return {
    values: sums.map((sum) => (Number.isNaN(sum) ? NaN : heights[next++]!)),
    sums,
    curve,
    seenRange: [Math.min(...state.sums), Math.max(...state.sums)],
    noise: rounds.noise,
    rounds: done,
  };
}

/** Where the fit stands: effects, their sums, the curve, and the misfit. */
interface State {
  readonly effects: Float64Array;
  readonly sums: Float64Array;
  readonly pieces: Pieces;
  readonly bent: Float64Array;
  readonly misfit: number;
}

class Rounds {
  noise: number;
  #ridge: Float64Array;
  #smoothing: number;
  #choosing = true;
  readonly #data: Observed;
  readonly #count: number;
  readonly #start: Float64Array;

  constructor(data: Observed) {
    this.#data = data;
    const many = data.y.length;
    this.#count = Math.min(Math.max(Math.floor(many / CELLS_PER_KNOT), 4), KNOTS);
    const start = fitTerms(data);
    const spread = deviation(this.#sums(start.effects)) || 1;
    this.noise = start.noise;
    this.#ridge = start.ridge.map((value) => value * spread ** 2);
    this.#smoothing = 1e-2 * many;
    this.#start = start.effects;
  }

  run(): { state: State; done: number } {
    let state = this.#bend(this.#start, null);
    let moving = true;
    let done = 0;
    while (done < ROUNDS) {
      done++;
      const tried = this.#round(state, moving);
      const stands = !tried || Math.abs(state.misfit - tried.misfit) < SETTLED * state.misfit;
      state = tried ?? state;
      if (stands && !moving) break;
      // Quantiles of the sums move with every step; knots that stand still let the last steps be small.
      moving = moving && !stands && done < MOVING;
    }
    return { state, done };
  }

  /** Return the state after a step that lowers the penalized misfit, null if there is none. */
  #round(state: State, moving: boolean): State | null {
    const move = this.#step(state);
    const bar = this.#objective(state);
    for (const share of TRIED) {
      const effects = state.effects.map((effect, at) => effect + share * move[at]!);
      const tried = this.#bend(effects, moving ? null : state.pieces.knots);
      if (this.#objective(tried) < bar) return tried;
    }
    return null;
  }

  #sums(effects: Float64Array): Float64Array {
    return Float64Array.from(this.#data.rows, (row) => row.reduce((sum, at) => sum + effects[at]!, 0));
  }

  /** Bring the sums to unit spread and fit the curve to them; knots at their quantiles, unless given. */
  #bend(raw: Float64Array, knots: Float64Array | null): State {
    const { y, weights } = this.#data;
    const wide = this.#sums(raw);
    const spread = deviation(wide) || 1;
    const effects = raw.map((effect) => effect / spread);
    const sums = wide.map((sum) => sum / spread);
    const pieces = piecesOf(knots ?? knotsOf(sums, this.#count), sums);
    const gram = gramOf(pieces, weights);
    roughness(pieces.knots).forEach((entry, at) => (gram[at]! += this.#smoothing * entry));
    const bent = increasing(gram, productsOf(pieces, y.map((value, at) => value * weights[at]!)));
    const heights = heightsOf(pieces, bent);
    const misfit = y.reduce((sum, value, at) => sum + weights[at]! * (value - heights[at]!) ** 2, 0);
    return { effects, sums, pieces, bent, misfit };
  }

  #objective({ effects, pieces, bent, misfit }: State): number {
    const { size } = this.#data.terms;
    const shrunk = effects.reduce((sum, effect, at) => sum + this.#ridge[size[at]! - 1]! * effect ** 2, 0);
    return misfit + shrunk + this.#smoothing * dot(bent, times(roughness(pieces.knots), bent.length, bent));
  }

  /** Return the Gauss-Newton step of the effects, the curve moving along; sets both smoothings on the way. */
  #step(state: State): Float64Array {
    const { terms, rows, y, weights } = this.#data;
    const { pieces, bent } = state;
    const [size, more] = [terms.columns, bent.length];
    const n = size + more;
    const slope = steepnessOf(pieces, bent);
    const heights = heightsOf(pieces, bent);
    const left = y.map((value, at) => weights[at]! * (value - heights[at]!));
    const whole = new Float64Array(n * n);
    const right = new Float64Array(n);
    const along = new Float64Array(n);
    const crossed = Array.from({ length: size }, () => noSums(pieces.knots));
    const centre = state.sums.reduce((sum, value) => sum + value, 0) / rows.length;
    rows.forEach((row, at) => {
      const steep = weights[at]! * slope[at]!;
      for (const one of row) {
        for (const two of row) whole[one * n + two]! += steep * slope[at]!;
        addPoint(crossed[one]!, pieces, at, steep);
        right[one]! += slope[at]! * left[at]!;
        along[one]! += state.sums[at]! - centre;
      }
    });
    crossed.forEach((sums, one) => fromSums(pieces.knots, sums).forEach((value, j) => (whole[(size + j) * n + one] = value)));
    const scale = diagonalMean(whole, n, size) || 1;
    const gram = gramOf(pieces, weights);
    const rough = roughness(pieces.knots).map((entry) => this.#smoothing * entry);
    for (let i = 0; i < more; i++) {
      for (let j = 0; j < more; j++) {
        const dust = i === j ? 1e-9 * (gram[i * more + i]! + scale) : 0;
        whole[(size + i) * n + size + j] = gram[i * more + j]! + rough[i * more + j]! + dust;
      }
    }
    for (let i = 0; i < size; i++) {
      const shrink = this.#ridge[terms.size[i]! - 1]!;
      whole[i * n + i]! += shrink + LEAST * scale;
      right[i]! -= shrink * state.effects[i]!;
    }
    const turn = times(rough, more, bent);
    productsOf(pieces, left).forEach((value, j) => (right[size + j] = value - turn[j]!));
    holdFlat(whole, n, size, bent);
    if (!cholesky(whole, n)) throw new Error("the step of a curve's fit is not positive definite");
    const move = choleskySolve(whole, n, right);
    // Sums of another spread are the same sums: the step keeps it.
    const turned = choleskySolve(whole, n, along);
    const back = dot(along, move) / dot(along, turned);
    if (this.#choosing) this.#choose(state, turnedInverse(whole, n), n, scale);
    return move.subarray(0, size).map((value, at) => value - back * turned[at]!);
  }

  /** Set shrinkage and smoothing to the next round of their fixed point. */
  #choose(state: State, turned: Float64Array, n: number, scale: number): void {
    const { terms, y } = this.#data;
    const more = state.bent.length;
    const size = n - more;
    const kept = keptPerOrder(terms, this.#ridge, turned, n);
    const rough = roughness(state.pieces.knots);
    let trace = 0;
    for (let i = 1; i < more; i++) {
      // Only neighbouring slopes meet in the roughness.
      for (let j = Math.max(i - 1, 1); j < Math.min(i + 2, more); j++) {
        trace += inverseEntry(turned, n, size + i, size + j) * rough[i * more + j]!;
      }
    }
    const bends = Math.max(more - 2 - this.#smoothing * trace, 1e-9);
    const freedom = kept.reduce((sum, part) => sum + part, 0) + 1 + bends;
    this.noise = state.misfit / Math.max(y.length - CAUTION * freedom, 0.1 * y.length);
    const before = [...this.#ridge, this.#smoothing];
    this.#ridge = nextRidge(state.effects, kept, this.noise, terms, scale);
    const power = Math.max(dot(state.bent, times(rough, more, state.bent)), 1e-300);
    this.#smoothing = Math.min(Math.max((this.noise * bends) / power, 1e-12 * y.length), 1e6 * y.length);
    const after = [...this.#ridge, this.#smoothing];
    this.#choosing = Math.max(...after.map((value, at) => Math.abs(Math.log(value / before[at]!)))) > STEADY;
  }
}

/** Slopes at their bound stay there. */
function holdFlat(whole: Float64Array, n: number, size: number, bent: Float64Array): void {
  const slopes = bent.subarray(1);
  const mean = slopes.reduce((sum, slope) => sum + slope, 0) / slopes.length;
  let largest = 0;
  for (let i = 0; i < n; i++) largest = Math.max(largest, whole[i * n + i]!);
  slopes.forEach((slope, knot) => {
    if (slope <= 2 * FLATTEST * mean) whole[(size + 1 + knot) * n + size + 1 + knot]! += 1e9 * largest;
  });
}

/** Half of the knots where the sums are dense, half evenly, so that the ends have some. */
function knotsOf(sums: Float64Array, count: number): Float64Array {
  const sorted = sums.slice().sort();
  const last = sorted.length - 1;
  const [low, high] = [sorted[0]!, sorted[last]!];
  const half = Math.floor(count / 2);
  const places: number[] = [];
  for (let step = 0; step <= half; step++) {
    const at = (last * step) / half;
    const [under, share] = [Math.floor(at), at - Math.floor(at)];
    const [one, two] = [sorted[under]!, sorted[Math.min(under + 1, last)]!];
    places.push(share < 0.5 ? one + (two - one) * share : two - (two - one) * (1 - share));
  }
  const even = count - half;
  for (let step = 0; step < even; step++) places.push(step === even - 1 ? high : low + (step * (high - low)) / (even - 1));
  const knots = [...new Set(places)].sort((one, two) => one - two);
  return Float64Array.from(
    knots.filter((knot, at) => at === 0 || at === knots.length - 1 || knot - knots[at - 1]! >= 1e-3 * (high - low)),
  );
}

function deviation(values: Float64Array): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length);
}
