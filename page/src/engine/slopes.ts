/** How predictions at unseen cells depart from what is determined: which effects leak, which factors are shortcuts.
 *
 * Predictions are regressed on the effects e_f and on how far the marginals mislead, d_f = m_f - e_f:
 * predicted = c + sum s_f e_f + sum t_f d_f + rest. Slopes s_f of one carry the whole effect. */

import { cholesky, choleskySolve } from "./dense.ts";
import { cellsOf, identify } from "./identify.ts";
import { fitAdditive } from "./normal.ts";
import { canonicalOf, levelsOf } from "./product.ts";
import { type ErrorParts, type Identification, type Model, Verdict } from "./types.ts";

/** Fewer cells than this say nothing. */
export const FEWEST_CELLS = 8;
/** Weak pull of slopes towards 1 and of shortcuts towards 0, per cell: it decides only what the cells do not. */
const RIDGE = 1e-3;

/** Read slopes and shortcuts from predictions at the unseen cells that order 1 determines. */
export function readSlopes(
  found: Identification,
  outcome: ArrayLike<number>,
  predictions: ArrayLike<number>,
  truth?: ArrayLike<number>,
  weights?: ArrayLike<number>,
): ErrorParts | null {
  const first = found.model.order === 1 ? found : identify({ ...found.model, order: 1 }, found.seen);
  const { model } = first;
  const cells: number[] = [];
  first.verdicts.forEach((verdict, cell) => {
    if (verdict === Verdict.DETERMINED && canonicalOf(model, cell) === cell) cells.push(cell);
  });
  if (cells.length < FEWEST_CELLS) return null;
  const { mean, effects, marginals } = levelValues(first, outcome, cells, weights);
  const told = Float64Array.from(cells, (cell) => predictions[cell]! - mean);
  const observed = Float64Array.from(cells, (cell, row) => (truth ? truth[cell]! - mean : total(effects[row]!)));
  const parts = decompose(told, observed, effects, marginals);
  const scale = spread(Float64Array.from(cellsOf(model, first.seen), (cell) => outcome[cell]!));
  const groups = groupsOf(model);
  const each = (values: ArrayLike<number>): Float64Array =>
    Float64Array.from(model.sizes, (_, factor) => values[groups.findIndex((group) => group.includes(factor))]!);
  return {
    slopes: each(parts.slopes),
    pulls: each(parts.pulls),
    shortcutSizes: each(parts.sizes.map((size) => size / scale)),
    shortcutShares: each(parts.shares),
    effects: each(groups.map((_, group) => spread(effects.map((row) => row[group]!)))),
    cells: cells.length,
  };
}

/** Interchangeable factors form one group; every other one is its own. */
function groupsOf(model: Model): number[][] {
  const symmetric = model.symmetric ?? [];
  const groups: number[][] = [];
  model.sizes.forEach((_, factor) => {
    const group = symmetric.find((some) => some.includes(factor));
    if (!group) groups.push([factor]);
    else if (Math.min(...group) === factor) groups.push([...group]);
  });
  return groups;
}

/** Return the mean outcome of the seen cells, and each group's effects and marginals at some cells, one row per cell. */
function levelValues(
  found: Identification,
  outcome: ArrayLike<number>,
  cells: readonly number[],
  weights?: ArrayLike<number>,
): { mean: number; effects: number[][]; marginals: number[][] } {
  const { model } = found;
  const seen = cellsOf(model, found.seen);
  const weigh = (cell: number): number => (weights ? weights[cell]! : 1);
  let [all, sum] = [0, 0];
  for (const cell of seen) {
    all += weigh(cell);
    sum += weigh(cell) * outcome[cell]!;
  }
  const mean = sum / all;
  const starts = levelStarts(model);
  const columns = starts.at(-1)! + model.sizes.at(-1)!;
  const counts = new Float64Array(columns);
  const sums = new Float64Array(columns);
  for (const cell of seen) {
    levelsOf(model.sizes, cell).forEach((level, factor) => {
      counts[starts[factor]! + level]! += weigh(cell);
      sums[starts[factor]! + level]! += weigh(cell) * (outcome[cell]! - mean);
    });
  }
  const marginal = sums.map((value, column) => (counts[column]! > 0 ? value / counts[column]! : 0));
  // Blocks of single factors stand in the table as they do here, but for those that interchangeable ones share.
  const fitted = fitAdditive(found, outcome, weights).table;
  const own = fittedStarts(model);
  const groups = groupsOf(model);
  const rows = (table: Float64Array, from: readonly number[]): number[][] => {
    const at = (cell: number): number[] => {
      const levels = levelsOf(model.sizes, cell);
      return groups.map((group) => group.reduce((part, factor) => part + table[from[factor]! + levels[factor]!]!, 0));
    };
    const centre = groups.map(() => 0);
    for (const cell of seen) at(cell).forEach((value, group) => (centre[group]! += (value * weigh(cell)) / all));
    return cells.map((cell) => at(cell).map((value, group) => value - centre[group]!));
  };
  return { mean, effects: rows(fitted, own), marginals: rows(marginal, starts) };
}

/** First number of each factor's levels; interchangeable ones share theirs, so that a level's mean is over all places. */
function levelStarts(model: Model): number[] {
  let next = 0;
  const starts = model.sizes.map((size) => (next += size) - size);
  for (const group of model.symmetric ?? []) for (const factor of group) starts[factor] = starts[Math.min(...group)]!;
  return starts;
}

/** First column of each factor in the conjunctions of order 1: as `levelStarts`, without gaps for those that share. */
function fittedStarts(model: Model): number[] {
  const stand = model.sizes.map((_, factor) => (model.symmetric ?? []).find((group) => group.includes(factor))?.[0] ?? factor);
  const starts = new Map<number, number>();
  let next = 0;
  stand.forEach((factor) => {
    if (starts.has(factor)) return;
    starts.set(factor, next);
    next += model.sizes[factor]!;
  });
  return stand.map((factor) => starts.get(factor)!);
}

function total(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

function spread(values: ArrayLike<number>): number {
  const list = Array.from(values);
  const mean = total(list) / list.length;
  return Math.sqrt(list.reduce((sum, value) => sum + (value - mean) ** 2, 0) / list.length);
}

interface Parts {
  readonly slopes: number[];
  readonly pulls: number[];
  readonly sizes: number[];
  readonly shares: number[];
}

/** Split the error of predictions into causes; rows are cells, columns groups of factors. */
function decompose(
  told: Float64Array,
  observed: Float64Array,
  effects: readonly number[][],
  marginals: readonly number[][],
): Parts {
  const factors = effects[0]!.length;
  const rows = effects.map((row, at) => [...row, ...row.map((effect, one) => marginals[at]![one]! - effect)]);
  const centre = rows[0]!.map((_, column) => rows.reduce((sum, row) => sum + row[column]!, 0) / rows.length);
  const deviation = centre.map((mean, column) => Math.sqrt(rows.reduce((sum, row) => sum + (row[column]! - mean) ** 2, 0) / rows.length));
  const largest = Math.max(...rows.map((row) => Math.max(...row.map(Math.abs))), ...told.map(Math.abs));
  const varied = deviation.flatMap((value, column) => (value > 1e-9 * largest ? [column] : []));
  const gap = told.map((value, at) => value - total(effects[at]!));
  const offset = gap.reduce((sum, value) => sum + value, 0) / gap.length;
  // In units of the whole, so that a marginal that hardly differs from its effect is not blamed for what it cannot do.
  const whole = Math.max(spread(told), spread(effects.map(total))) || 1;
  const n = varied.length;
  const gram = new Float64Array(n * n);
  const right = new Float64Array(n);
  rows.forEach((row, at) => {
    varied.forEach((one, i) => {
      const left = (row[one]! - centre[one]!) / whole;
      right[i]! += left * (gap[at]! - offset);
      varied.forEach((two, j) => (gram[i * n + j]! += (left * (row[two]! - centre[two]!)) / whole));
    });
  });
  for (let i = 0; i < n; i++) gram[i * n + i]! += RIDGE * rows.length;
  const change = new Array<number>(2 * factors).fill(0);
  if (n && cholesky(gram, n)) choleskySolve(gram, n, right).forEach((value, i) => (change[varied[i]!] = value / whole));
  const error = told.map((value, at) => value - observed[at]!);
  const squares = error.reduce((sum, value) => sum + value * value, 0);
  const moved = (column: number, row: readonly number[]): number => (row[column]! - centre[column]!) * change[column]!;
  const place = Array.from({ length: factors }, (_, factor) => factor);
  const seen = new Set(varied);
  return {
    slopes: place.map((factor) => (seen.has(factor) ? 1 + change[factor]! : NaN)),
    pulls: place.map((factor) => (seen.has(factors + factor) ? change[factors + factor]! : NaN)),
    sizes: place.map((factor) => Math.sqrt(rows.reduce((sum, row) => sum + moved(factors + factor, row) ** 2, 0) / rows.length)),
    shares: place.map((factor) =>
      squares > 0 ? rows.reduce((sum, row, at) => sum + moved(factors + factor, row) * error[at]!, 0) / squares : 0,
    ),
  };
}
