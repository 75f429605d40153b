/** Scenes as text behind the # of a link, and back. A link that cannot be read is refused with a reason, never guessed. */

import { productOf } from "../engine/index.ts";
import { openPreset, presetOf } from "./presets.ts";
import { obey, PUZZLES, puzzleScene } from "./puzzle.ts";
import {
  atUnseen,
  type Factor,
  isPlain,
  makeScene,
  MOST_FACTORS,
  MOST_LEVELS,
  plainFactors,
  type Scene,
  type Truth,
  type TruthKind,
  TRUTHS,
  truthOf,
} from "./scene.ts";

export class LinkError extends Error {
  override readonly name = "LinkError";
}

/** Cells up to which a table goes into the link. */
const MOST_IN_LINK = 1000;
const MOST_CELLS_SHOWN = 40_000;

/** Return the mask as lengths of runs, unseen first, in base 36. */
export function packMask(mask: Uint8Array): string {
  const runs: string[] = [];
  let value = 0;
  let length = 0;
  for (const one of mask) {
    if (one === value) length++;
    else {
      runs.push(length.toString(36));
      value = one;
      length = 1;
    }
  }
  if (value) runs.push(length.toString(36));
  return runs.join(".");
}

export function unpackMask(text: string, cells: number): Uint8Array {
  const mask = new Uint8Array(cells);
  let at = 0;
  (text ? text.split(".") : []).forEach((run, place) => {
    const length = /^[0-9a-z]{1,5}$/.test(run) ? parseInt(run, 36) : NaN;
    if (!(at + length <= cells)) throw new LinkError("the link names more cells than there are; ask for it again");
    if (place % 2) mask.fill(1, at, at + length);
    at += length;
  });
  return mask;
}

/** Return the part of a link after the #. A table too large for it is left out, and so is what rests on it. */
export function packScene(scene: Scene): string {
  const parts = new URLSearchParams();
  const preset = presetOf(scene.preset);
  const start = preset ? openPreset(preset) : scene.puzzle ? puzzleScene(scene.puzzle) : null;
  if (preset) parts.set("p", scene.preset);
  else if (start) parts.set("z", `${scene.puzzle}.${scene.tries}`);
  if (!start || !sameFactors(start.factors, scene.factors)) packFactors(parts, scene.factors);
  parts.set("m", packMask(scene.seen));
  const { truth } = scene;
  if (!start || truth.kind !== start.truth.kind) parts.set("t", truth.kind);
  if (truth.kind === "formula") parts.set("y", truth.formula);
  if (truth.kind === "table" && truth.table && !(start && sameNumbers(start.truth.table, truth.table))) {
    if (truth.table.length <= MOST_IN_LINK) {
      parts.set("v", Array.from(truth.table, (value) => (Number.isFinite(value) ? String(+value.toPrecision(6)) : "")).join("~"));
      if (truth.unit) parts.set("u", truth.unit);
    }
  }
  if (scene.order !== 1) parts.set("o", String(scene.order));
  if (scene.noise) parts.set("n", String(scene.noise));
  parts.set("k", scene.kernel + scene.depth);
  const view = [scene.rows, scene.columns, ...scene.slice].join(".");
  if (scene.factors.length > 2 || scene.rows) parts.set("w", view);
  if (scene.focus >= 0) parts.set("c", scene.focus.toString(36));
  if (scene.show === "misses") parts.set("d", "1");
  return parts.toString();
}

/** Say whether a link to this scene would hold all of it. */
export function fitsLink(scene: Scene): boolean {
  return !(scene.truth.kind === "table" && !scene.preset && scene.truth.table && scene.truth.table.length > MOST_IN_LINK);
}

export function unpackScene(hash: string): Scene {
  const parts = new URLSearchParams(hash.replace(/^#/, ""));
  const preset = presetOf(parts.get("p") ?? "");
  const start = preset ? openPreset(preset) : parts.has("z") ? unpackPuzzle(parts.get("z")!) : null;
  const factors = parts.has("s") || parts.has("f") ? unpackFactors(parts) : start?.factors;
  if (!factors) throw new LinkError("it names neither factors nor a preset of the page");
  const sizes = factors.map((factor) => factor.levels.length);
  const cells = productOf(sizes);
  const base = start && sameFactors(start.factors, factors) ? start : makeScene(factors);
  const scene = {
    ...base,
    preset: start?.preset ?? "",
    seen: parts.has("m") ? unpackMask(parts.get("m")!, cells) : base.seen,
    truth: unpackTruth(parts, base.truth, cells),
    order: whole(parts.get("o") ?? "1", 1, Math.min(3, factors.length), "order"),
    noise: Math.max(0, finite(parts.get("n") ?? "0", "noise")),
    focus: parts.has("c") ? Math.min(parseInt(parts.get("c")!, 36), cells - 1) : -1,
    show: parts.has("d") ? ("misses" as const) : ("says" as const),
  };
  const network = /^(ntk|nngp)(\d+)$/.exec(parts.get("k") ?? "ntk3");
  if (!network) throw new LinkError(`the link asks for the network ${parts.get("k")}; it is ntk or nngp and a depth`);
  const view = parts.get("w")?.split(".").map((text, at) => whole(text, 0, at < 2 ? factors.length - 1 : sizes[at - 2]! - 1, "view"));
  if (view && (view.length !== factors.length + 2 || view[0] === view[1])) throw new LinkError("the link's view does not fit its factors");
  const usual = makeScene(factors);
  const found: Scene = {
    ...scene,
    focus: Number.isInteger(scene.focus) ? scene.focus : -1,
    kernel: network[1] as "ntk" | "nngp",
    depth: whole(network[2]!, 1, 50, "depth"),
    rows: view?.[0] ?? usual.rows,
    columns: view?.[1] ?? usual.columns,
    slice: view?.slice(2) ?? usual.slice,
  };
  const right = obey(found, found);
  if (!right) throw new LinkError("it paints more squares than the puzzle allows");
  return view ? right : atUnseen(right);
}

function unpackPuzzle(text: string): Scene {
  const [puzzle, tries] = text.split(".");
  return { ...puzzleScene(whole(puzzle!, 1, PUZZLES, "puzzle")), tries: whole(tries ?? "0", 0, 9999, "tries") };
}

function packFactors(parts: URLSearchParams, factors: readonly Factor[]): void {
  if (isPlain(factors)) parts.set("s", factors.map((factor) => factor.levels.length).join("x"));
  else parts.set("f", factors.map((factor) => [factor.name, ...factor.levels].map(encodeURIComponent).join(",")).join(";"));
}

function unpackFactors(parts: URLSearchParams): Factor[] {
  const sizes = parts.get("s")?.split("x").map((text) => whole(text, 1, MOST_LEVELS, "size"));
  const found =
    sizes ??
    parts.get("f")!.split(";").map((text) => {
      const [name, ...levels] = text.split(",").map(decodeURIComponent);
      return { name: name!, levels };
    });
  const factors = sizes ? plainFactors(sizes.slice(0, MOST_FACTORS)) : (found as Factor[]);
  const right = factors.length >= 2 && factors.length <= MOST_FACTORS;
  const cells = productOf(factors.map((factor) => factor.levels.length));
  if (!right || !cells || cells > MOST_CELLS_SHOWN || factors.some((factor) => factor.levels.length > MOST_LEVELS)) {
    throw new LinkError(`the link asks for ${factors.length} factors and ${cells} cells; the page shows 2 to ${MOST_FACTORS} factors`);
  }
  return factors;
}

function unpackTruth(parts: URLSearchParams, usual: Truth, cells: number): Truth {
  const kind = (parts.get("t") ?? usual.kind) as TruthKind;
  if (!TRUTHS.includes(kind)) throw new LinkError(`the link's truth is ${kind}; the page knows ${TRUTHS.join(", ")}`);
  if (kind === "formula") return truthOf("formula", { formula: parts.get("y") ?? "" });
  if (kind !== "table") return truthOf(kind);
  const numbers = parts.get("v")?.split("~");
  if (!numbers && usual.table) return usual;
  // A table too large for a link stays with whoever has it: what is left is what was seen.
  if (!numbers) return truthOf("table", { table: new Float64Array(cells).fill(NaN) });
  if (numbers.length !== cells) throw new LinkError(`the link's table has ${numbers.length} entries for ${cells} cells`);
  const table = Float64Array.from(numbers, (text) => (text === "" ? NaN : finite(text, "table")));
  return truthOf("table", { table, unit: parts.get("u") ?? "" });
}

function whole(text: string, least: number, most: number, name: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < least || value > most) {
    throw new LinkError(`the link's ${name} is ${text.slice(0, 20)}; it must be from ${least} to ${most}`);
  }
  return value;
}

function finite(text: string, name: string): number {
  const value = Number(text);
  if (!text.trim() || !Number.isFinite(value)) throw new LinkError(`the link's ${name} is ${text.slice(0, 20)}, which is no number`);
  return value;
}

function sameFactors(one: readonly Factor[], two: readonly Factor[]): boolean {
  return JSON.stringify(one) === JSON.stringify(two);
}

function sameNumbers(one: Float64Array | null, two: Float64Array): boolean {
  return one !== null && one.length === two.length && one.every((value, at) => Object.is(value, two[at]));
}

