/** How verdicts and numbers look: the words, symbols and colours of the package, and two scales of colour. */

import { verdicts } from "../generated/vocabulary.json";

export interface VerdictLook {
  readonly word: string;
  readonly symbol: string;
  readonly colour: string;
  readonly meaning: string;
}

/** The package's own table, by code; `{assumption}` in a meaning stands for what is assumed. */
export const LOOKS: readonly VerdictLook[] = verdicts;

/** Inks of the page as the style sheet has them now, by day or by night. */
export interface Inks {
  readonly ink: string;
  readonly soft: string;
  readonly rule: string;
  readonly wash: string;
  readonly paper: string;
  readonly accent: string;
  readonly unseen: string;
  readonly font: string;
}

export function readInks(element: Element): Inks {
  const style = getComputedStyle(element);
  const of = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  return {
    ink: of("ink"),
    soft: of("soft"),
    rule: of("rule"),
    wash: of("wash"),
    paper: of("paper"),
    accent: of("accent"),
    unseen: of("unseen"),
    font: of("sans"),
  };
}

/** Red, green and blue, from 0 to 255. */
export type Colour = readonly [number, number, number];

// Lightness falls steadily along the first, and away from the middle of the second: both can be read in grey, and
// neither rests on telling red from green.
const VALUES: readonly Colour[] = ["e4f4e8", "b4e3cb", "79cfb5", "46b1ab", "36899f", "3b638c", "40406f"].map(colourOf);
const GAPS = {
  day: ["5b2a86", "9a72b8", "cdb8da", "f1eff0", "f3c9a2", "d98d4c", "9a4f10"].map(colourOf),
  night: ["b995dc", "8560ac", "4d3d63", "2a2d32", "57442f", "a06a34", "e6ad74"].map(colourOf),
};

/** Return the colour that six (or three) hexadecimal digits name, with or without # before them. */
export function colourOf(hex: string): Colour {
  const digits = hex.replace("#", "");
  const long = digits.length === 3 ? [...digits].map((one) => one + one).join("") : digits;
  return [0, 2, 4].map((at) => parseInt(long.slice(at, at + 2), 16)) as unknown as Colour;
}

/** Return a colour that is a share of the way from one to another. */
export function between(one: Colour, two: Colour, share: number): Colour {
  return one.map((value, at) => Math.round(value + share * (two[at]! - value))) as unknown as Colour;
}

function along(scale: readonly Colour[], share: number): Colour {
  const place = Math.min(Math.max(share, 0), 1) * (scale.length - 1);
  const from = Math.min(Math.floor(place), scale.length - 2);
  const part = place - from;
  return scale[from]!.map((value, at) => Math.round(value + part * (scale[from + 1]![at]! - value))) as unknown as Colour;
}

export interface Fill {
  readonly colour: Colour;
  /** The ink that can be read on it. */
  readonly ink: string;
}

/** The two inks on a colour, the same by day and by night. */
export const [DARK_MARK, LIGHT_MARK] = ["#1f232a", "#fefefe"] as const;

function fillOf(colour: Colour): Fill {
  const [red, green, blue] = colour;
  const light = (0.299 * red + 0.587 * green + 0.114 * blue) / 255;
  return { colour, ink: light < 0.55 ? LIGHT_MARK : DARK_MARK };
}

/** Steps in which fills are made once and kept: more cannot be told apart. */
const STEPS = 255;
const fillsAlong = (scale: readonly Colour[]): Fill[] => Array.from({ length: STEPS + 1 }, (_, step) => fillOf(along(scale, step / STEPS)));
const valueFills = fillsAlong(VALUES);
const gapFills = { day: fillsAlong(GAPS.day), night: fillsAlong(GAPS.night) };

/** Whether the page is dark: no difference at all is then dark, not white. */
export function timeOf(inks: Inks): "day" | "night" {
  return colourOf(inks.paper)[0] < 128 ? "night" : "day";
}

const at = (fills: readonly Fill[], share: number): Fill => fills[Math.round(Math.min(Math.max(share, 0), 1) * STEPS)]!;

/** Return the fill of a value between two limits. */
export function valueFill(value: number, [least, most]: readonly [number, number]): Fill {
  return at(valueFills, most > least ? (value - least) / (most - least) : 0.5);
}

/** Return the fill of a difference; `most` is the size at which colour ends. */
export function gapFill(gap: number, most: number, time: "day" | "night"): Fill {
  return at(gapFills[time], most > 0 ? 0.5 + gap / (2 * most) : 0.5);
}

/** Return the scale of values as stops of a style sheet's gradient. */
export function valueGradient(): string {
  return VALUES.map(([red, green, blue]) => `rgb(${red} ${green} ${blue})`).join(", ");
}

export function gapGradient(time: "day" | "night"): string {
  return GAPS[time].map(([red, green, blue]) => `rgb(${red} ${green} ${blue})`).join(", ");
}

/** Return a number as short as it can be read, with a proper minus. */
export function tell(value: number, digits = 3): string {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  const text = size !== 0 && (size >= 1e6 || size < 1e-3) ? value.toExponential(1) : String(+value.toPrecision(Math.max(digits, Math.ceil(Math.log10(size + 1)))));
  return +text === 0 ? "0" : text.replace("-", "−");
}

/** Return how many decimals numbers of such a span need to be told apart. */
export function decimalsFor([least, most]: readonly [number, number]): number {
  const span = most - least;
  return span > 0 ? Math.min(Math.max(Math.ceil(1.8 - Math.log10(span)), 0), 4) : 1;
}

/** Return a number with at most so many decimals. */
export function round(value: number, decimals: number): string {
  const text = Math.abs(value) >= 1e5 ? value.toExponential(0) : value.toFixed(decimals).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "");
  return +text === 0 ? "0" : text.replace("-", "−");
}
