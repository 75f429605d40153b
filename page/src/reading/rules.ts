/** The patterns, words and limits by which sheets are read: one file, which Python reads too. */

import { limits, patterns, units, words } from "../../../src/recombine/sheets/rules.json";
import { BLANKS, casefold } from "./texts.ts";

export const UNITS: {
  readonly prefixes: Readonly<Record<string, number>>;
  readonly bases: readonly string[];
  readonly others: readonly string[];
  readonly spellings: Readonly<Record<string, readonly string[]>>;
} = units;

function expanded(name: string): string {
  return (patterns as Readonly<Record<string, string>>)[name]!.replace(/\{([a-z_]+)\}/g, (_, inner: string) => `(?:${expanded(inner)})`);
}

/** Return what gives, and keeps, something for each name. */
export function once<T>(make: (name: string) => T): (name: string) => T {
  const made = new Map<string, T>();
  return (name) => {
    if (!made.has(name)) made.set(name, make(name));
    return made.get(name)!;
  };
}

/** A pattern in which points and blanks are what they are in Python. */
export function portable(pattern: string): string {
  return pattern.replace(/\\.|\[(?:\\.|[^\]])*\]|\./g, (part) => (part === "." ? "[^\\n]" : part[0] === "[" ? part.replaceAll("\\s", BLANKS) : part));
}

const compiled = once((name) => new RegExp(`^(?:${portable(expanded(name))})$`, "iu"));

/** The groups of a pattern in a text that it matches as a whole, whatever its case. */
export const matched = (name: keyof typeof patterns, text: string): RegExpExecArray | null => compiled(name).exec(text);
export const matches = (name: keyof typeof patterns, text: string): boolean => compiled(name).test(text);

const folded = once((name): ReadonlySet<string> => new Set((words as Readonly<Record<string, readonly string[]>>)[name]!.map(casefold)));

/** Whether a text is one of some words, whatever its case. */
export const isWord = (list: keyof typeof words, text: string): boolean => folded(list).has(casefold(text));

/** A number that a rule compares with. */
export const ruleLimit = (name: keyof typeof limits): number => limits[name];
export const listed = (list: keyof typeof words): readonly string[] => words[list];
