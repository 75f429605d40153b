/** From a table's rows to a scene: one factor per chosen column, the mean outcome of each cell. */

import { MOST_CELLS } from "../engine/product.ts";
import { TableError } from "../reading/grid.ts";
import { isMissing, isNumber, kindOfTexts } from "../reading/roles.ts";
import type { Tidy } from "../reading/tidy.ts";
import { atUnseen, type Factor, makeScene, MOST_FACTORS, MOST_LEVELS, type Scene, truthOf } from "./scene.ts";

/** Cells that a picture holds. */
export const MOST_SHOWN = Math.min(MOST_CELLS, 40_000);

export interface Reading {
  readonly scene: Scene;
  /** How many rows there are, and how many are used. */
  readonly rows: number;
  readonly used: number;
  /** Columns that some rows lack, and how many. */
  readonly lacking: readonly (readonly [column: string, rows: number])[];
}

/** Return the scene of some columns; without an outcome only verdicts can be told. */
export function sceneOfTable(table: Pick<Tidy, "columns" | "rows">, names: readonly string[], outcome: string | null): Reading {
  if (names.length < 2) throw new TableError("choose at least two factors");
  if (names.length > MOST_FACTORS) throw new TableError(`choose at most ${MOST_FACTORS} factors`);
  const places = names.map((name) => table.columns.indexOf(name));
  const target = outcome === null ? -1 : table.columns.indexOf(outcome);
  const [valueOf, unit] = outcome === null ? [Number, ""] : measuresOf(table, outcome);
  const has = (row: readonly string[], place: number): boolean => !isMissing(row[place]!);
  const needed = target < 0 ? places : [...places, target];
  const rows = table.rows.filter((row) => needed.every((place) => has(row, place)));
  const lacking = needed.map((place) => [table.columns[place]!, table.rows.filter((row) => !has(row, place)).length] as const);
  if (!rows.length) throw new TableError("no row has all factors and an outcome; choose other columns");
  const factors = names.map((name, at) => factorOf(name, rows.map((row) => row[places[at]!]!.trim())));
  const sizes = factors.map((factor) => factor.levels.length);
  checkSize(factors);
  const numbers = factors.map((factor) => new Map(factor.levels.map((level, place) => [level, place])));
  const cells = sizes.reduce((total, size) => total * size, 1);
  const [sums, counts] = [new Float64Array(cells), new Uint32Array(cells)];
  for (const row of rows) {
    const cell = places.reduce((at, place, factor) => at * sizes[factor]! + numbers[factor]!.get(row[place]!.trim())!, 0);
    counts[cell]!++;
    if (target >= 0) sums[cell]! += valueOf(row[target]!);
  }
  const seen = Uint8Array.from(counts, (count) => +(count > 0));
  const values = sums.map((sum, cell) => (counts[cell] && target >= 0 ? sum / counts[cell]! : NaN));
  const truth = truthOf("table", { table: values, unit });
  return { scene: atUnseen(makeScene(factors, { seen, truth })), rows: table.rows.length, used: rows.length, lacking: lacking.filter(([, count]) => count) };
}

/** Return what a text of the outcome is as a number, and what the numbers are: of two classes, the share of the second. */
export function measuresOf({ columns, rows }: Pick<Tidy, "columns" | "rows">, outcome: string): [(text: string) => number, string] {
  const place = columns.indexOf(outcome);
  const texts = [...new Set(rows.map((row) => row[place]!))].filter((text) => !isMissing(text)).sort();
  if (["integer", "number"].includes(kindOfTexts(texts))) return [Number, outcome];
  if (texts.length !== 2) throw new TableError(`${outcome} is text with ${texts.length} values; choose a column of numbers, or of two classes`);
  return [(text) => +(text === texts[1]), `${outcome} = ${texts[1]}`];
}

/** Levels in order: numbers by size, names by the alphabet. */
function factorOf(name: string, fields: readonly string[]): Factor {
  const levels = [...new Set(fields)];
  const numeric = levels.every(isNumber);
  levels.sort((one, two) => (numeric ? Number(one) - Number(two) : one < two ? -1 : 1));
  return { name, levels };
}

function checkSize(factors: readonly Factor[]): void {
  const long = factors.find((factor) => factor.levels.length > MOST_LEVELS);
  const cells = factors.reduce((total, factor) => total * factor.levels.length, 1);
  const cure = "run recombine explore with the table's name";
  if (long) {
    throw new TableError(`${long.name} has ${long.levels.length} levels, more than the ${MOST_LEVELS} a picture holds; ${cure}`);
  }
  if (cells > MOST_SHOWN) {
    throw new TableError(`${cells} cells are too many for the page; choose fewer factors, or ${cure}`);
  }
}
