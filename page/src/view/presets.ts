/** Where to begin: tables as four trades meet them, the tasks of the papers, and three real tables. */

import { levelsOf } from "../engine/index.ts";
import { atUnseen, type Factor, makeScene, plainFactors, type Scene, sizesOf, truthOf } from "./scene.ts";
import { barley, flights, titanic } from "./real.ts";
import { pages, robot, screen, trial } from "./trades.ts";

export interface Preset {
  readonly id: string;
  readonly group: "To begin" | "Like your data" | "Tasks of the papers" | "Real tables";
  readonly title: string;
  /** What it is and where it is from, one or two sentences. */
  readonly about: string;
  readonly make: () => Scene;
}

/** Return a scene whose cells are seen where the rule says so of their levels. */
function scene(factors: readonly Factor[], rule: (levels: number[]) => boolean, parts: Partial<Scene>): Scene {
  const empty = makeScene(factors, parts);
  const sizes = sizesOf(empty);
  return { ...empty, seen: empty.seen.map((_, cell) => +rule(levelsOf(sizes, cell))) };
}

const items = (names: string): string[] => [...names];
const pair = (levels: readonly string[]): Factor[] => [
  { name: "first", levels },
  { name: "second", levels },
];
const centred = ["−4", "−3", "−2", "−1", "0", "1", "2", "3", "4"];
const LIPPL = "Lippl & Stachenfeld (2025), When does compositional structure yield compositional generalization?";
/** Two corners of a 9 x 9 grid, each with one full row and column. */
const islands = ([a, b]: number[]): boolean =>
  (a! < 5 && b! < 5 && (a === 2 || b === 2)) || (a! > 4 && b! > 4 && (a === 6 || b === 7));

function context(leftOut: number): Scene {
  const features = items("ABCDEF");
  const factors = [
    { name: "context", levels: ["1", "2"] },
    { name: "feature 1", levels: features },
    { name: "feature 2", levels: features },
  ];
  const unseen = ([, a, b]: number[]): boolean => a! < leftOut && b! >= 3 && b! < 3 + leftOut;
  return scene(factors, (levels) => !unseen(levels), { order: 2, truth: truthOf("context") });
}

/** A band of partners for each item, its rows in the published order of `dispersed_addition(seed=1)`. */
const BAND = [7, 0, 1, 4, 2, 5, 8, 6, 3];

export const PRESETS: readonly Preset[] = [
  {
    id: "islands",
    group: "To begin",
    title: "Two islands",
    about: "Sums of two numbers. Two groups of levels were never seen together.",
    make: () => scene(plainFactors([9, 9]), islands, { truth: truthOf("adding") }),
  },
  {
    id: "shortcut",
    group: "To begin",
    title: "A shortcut",
    about: "Only the column matters, but rows and columns were seen together: a network leans on the row.",
    make: () => scene(plainFactors([9, 9]), ([a, b]) => Math.abs(a! - b!) < 2, { depth: 1, truth: truthOf("formula", { formula: "b" }) }),
  },
  {
    id: "blank",
    group: "To begin",
    title: "An empty grid",
    about: "Twelve levels by twelve, nothing seen.",
    make: () => makeScene(plainFactors([12, 12])),
  },
  {
    id: "screen",
    group: "Like your data",
    title: "Drug screen: drug × cell line",
    about: "Two new drugs were tried on two new cell lines only, so nothing ties them to the others. Made-up numbers.",
    make: screen,
  },
  {
    id: "pages",
    group: "Like your data",
    title: "A/B test: page × audience × device",
    about: "Page D was shown to newsletter readers on phones only. If effects add, that is enough; if 2 factors interact, it is not. Made-up numbers.",
    make: pages,
  },
  {
    id: "robot",
    group: "Like your data",
    title: "Robot: object × pose × light",
    about: "In dim light only the upright mug was tried, in the dark nothing. Made-up numbers.",
    make: robot,
  },
  {
    id: "trial",
    group: "Like your data",
    title: "Field trial: treatment × block, with gaps",
    about: "Incomplete blocks of three, four plots lost: treatment G is left in block VII alone and block VII has nothing else, so the two are confounded. Made-up numbers.",
    make: trial,
  },
  {
    id: "addition",
    group: "Tasks of the papers",
    title: "Symbolic addition, one anchor",
    about: `Two items are added; only pairs with the middle item were seen. ${LIPPL}`,
    make: () => scene(pair(centred), ([a, b]) => a === 4 || b === 4, {}),
  },
  {
    id: "interpolation",
    group: "Tasks of the papers",
    title: "Symbolic addition, two anchors",
    about: `The same with the two outermost items as anchors. ${LIPPL}`,
    make: () => scene(pair(centred), ([a, b]) => a! % 8 === 0 || b! % 8 === 0, {}),
  },
  {
    id: "dispersed",
    group: "Tasks of the papers",
    title: "Addition, each item with two partners",
    about: `Few partners each, spread over the grid: long certificates. ${LIPPL}`,
    make: () => scene(pair(centred), ([a, b]) => (b! - BAND[a!]! + 9) % 9 < 2, {}),
  },
  {
    id: "context",
    group: "Tasks of the papers",
    title: "Context dependence, CD-3",
    about: `The context says which feature answers; one block was left out in both contexts. ${LIPPL}`,
    make: () => context(3),
  },
  {
    id: "context1",
    group: "Tasks of the papers",
    title: "Context dependence, CD-1",
    about: `The same with a single pair of features left out in both contexts. ${LIPPL}`,
    make: () => context(1),
  },
  {
    id: "equivalence",
    group: "Tasks of the papers",
    title: "Transitive equivalence",
    about: `Do two items belong to one class? Adding effects cannot tell. ${LIPPL}`,
    make: () => {
      const unseen = new Set(["AC", "CA", "CD", "DC", "AF", "FA", "DF", "FD"]);
      const names = "ABCDEF";
      const seen = ([a, b]: number[]): boolean => !unseen.has(names[a!]! + names[b!]!);
      return scene(pair(items(names)), seen, { truth: truthOf("equivalence") });
    },
  },
  {
    id: "ordering",
    group: "Tasks of the papers",
    title: "Transitive ordering",
    about: `Which of two items comes first, learned from neighbours. ${LIPPL}`,
    make: () => scene(pair(items("ABCDEFG")), ([a, b]) => Math.abs(a! - b!) === 1, { truth: truthOf("ordering") }),
  },
  {
    id: "flights",
    group: "Real tables",
    title: "Flights from New York",
    about:
      "Mean minutes in the air in 2013, eight carriers and the fourteen busiest destinations; six of 61 recorded means are hidden. US Bureau of Transportation Statistics, public domain.",
    make: flights,
  },
  {
    id: "barley",
    group: "Real tables",
    title: "Barley yields, Minnesota",
    about:
      "Bushels per acre; four varieties are hidden at three sites in 1932. Immer, Hayes & Powers (1934), Journal of the American Society of Agronomy 26, 403–419.",
    make: barley,
  },
  {
    id: "titanic",
    group: "Real tables",
    title: "Survivors of the Titanic",
    about: "Per cent saved; no children were among the crew. British Board of Trade inquiry, 1912 (Dawson 1995).",
    make: titanic,
  },
];

export function presetOf(id: string): Preset | undefined {
  return PRESETS.find((preset) => preset.id === id);
}

/** Return the scene of a preset, named after it. */
export function openPreset(preset: Preset): Scene {
  return atUnseen({ ...preset.make(), preset: preset.id });
}
