/** Units after numbers: which text is one, its one spelling, and how much of its base it is. */

import { once, UNITS } from "./rules.ts";
import { strip } from "./texts.ts";

const SPELLED = new Map(Object.entries(UNITS.spellings).flatMap(([unit, spellings]) => spellings.map((spelling) => [spelling, unit] as const)));

/** The one spelling of a unit, or nothing where a text is no unit that the rules know. */
export const unitSpelling = once((text) => {
  const pieces = text.replaceAll("μ", "µ").split("/").map((part) => piece(strip(part)));
  return pieces.every(Boolean) && pieces.length <= 3 ? pieces.join("/") : "";
});

function piece(text: string): string {
  if (UNITS.bases.includes(text) || UNITS.others.includes(text)) return text;
  const unit = SPELLED.get(text) ?? SPELLED.get(text.toLowerCase());
  if (unit !== undefined) return unit;
  const [prefix, rest] = [text[0] === "u" ? "µ" : (text[0] ?? ""), text.slice(1)];
  const base = SPELLED.get(rest) ?? rest;
  return prefix in UNITS.prefixes && UNITS.bases.includes(base) ? prefix + base : "";
}

/** How much of its base unit a level such as 1 mM is, rounded; nothing where it has no prefixed unit. */
export function baseAmount(level: string): string {
  const match = /^([-+]?[0-9]+(?:\.[0-9]+)?) ?(\D[^\n]*)$/u.exec(level);
  const unit = match ? unitSpelling(match[2]!) : "";
  if (!match || !unit || unit.includes("/")) return "";
  const [scale, base] = UNITS.bases.includes(unit) ? [1, unit] : [UNITS.prefixes[unit[0]!] ?? 0, unit.slice(1)];
  return scale && UNITS.bases.includes(base) ? `${Number((Number(match[1]) * scale).toPrecision(9))} ${base}` : "";
}
