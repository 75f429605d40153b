/** Texts as Python takes them, where the browser has other rules. */

/** Blanks, between brackets of a pattern. */
export const BLANKS = "\\t-\\r\\x1c- \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const AROUND = new RegExp(`^[${BLANKS}]+|[${BLANKS}]+$`, "g");
const FOLDED: Readonly<Record<string, string>> = { ß: "ss", ς: "σ", µ: "μ", ſ: "s" };

/** A text without blanks around it. */
export function strip(text: string): string {
  return text.replace(AROUND, "");
}

/** A text whose case is folded. */
export function casefold(text: string): string {
  return text.toLowerCase().replace(/[ßςµſ]/g, (letter) => FOLDED[letter]!);
}

export const hasDigit = (text: string): boolean => /[\p{Nd}²³¹⁰-⁹₀-₉]/u.test(text);

/** How often each text comes, in the order in which they first come. */
export function counted<T>(items: Iterable<T>): Map<T, number> {
  const counts = new Map<T, number>();
  for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1);
  return counts;
}

/** Items by a text that each of them has. */
export function groupedBy<T>(items: Iterable<T>, textOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const text = textOf(item);
    if (!groups.get(text)?.push(item)) groups.set(text, [item]);
  }
  return groups;
}

/** A name that is not taken. */
export function free(name: string, taken: ReadonlySet<string>): string {
  while (taken.has(name)) name += "_";
  return name;
}

export const sum = (numbers: Iterable<number>): number => [...numbers].reduce((total, number) => total + number, 0);
export const range = (first: number, last: number): number[] => Array.from({ length: Math.max(0, last - first) }, (_, at) => first + at);
export const distinct = <T>(items: Iterable<T>): T[] => [...new Set(items)];
