/** The patterns, words and limits by which sheets are read: one file, which Python reads too. */

import { limits, patterns, words } from "../../../src/recombine/sheets/rules.json";

function expanded(name: string): string {
  return (patterns as Readonly<Record<string, string>>)[name]!.replace(/\{([a-z_]+)\}/g, (_, inner: string) => `(?:${expanded(inner)})`);
}

function once<T>(make: (name: string) => T): (name: string) => T {
  const made = new Map<string, T>();
  return (name) => {
    if (!made.has(name)) made.set(name, make(name));
    return made.get(name)!;
  };
}

/** The pattern that a whole text has to match, whatever its case; {name} in it stands for another. */
export const rulePattern = once((name) => new RegExp(`^(?:${expanded(name)})$`, "iu"));

/** A list of words, in lower case. */
export const ruleWords = once((name): ReadonlySet<string> => new Set((words as Readonly<Record<string, readonly string[]>>)[name]!.map((word) => word.toLowerCase())));

/** A number that a rule compares with. */
export function ruleLimit(name: keyof typeof limits): number {
  return limits[name];
}
