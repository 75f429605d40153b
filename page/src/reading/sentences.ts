/** How a sheet was read, in words: Python's sentences, with the same holes filled. */

import SENTENCES from "../generated/reading.json";
import type { Note } from "./grid.ts";

/** Values that a sentence names. */
const MOST_SAID = 4;
// What is obeyed rather than shown: control characters, marks that turn the direction of writing or have no width.
const OBEYED = /[\0-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{d800}-\u{dfff}\u{e0000}-\u{e007f}]|(?<=#)#(?=[\p{L}\p{N}_]*\[)/gu;

/** Text as one line that means nothing but itself. */
export function printable(text: string): string {
  const escaped = (found: string): string => Array.from({ length: found.length }, (_, at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, "0")}`).join("");
  return text.replace(OBEYED, escaped).replace(/^(\s*):(?=:)/, "$1\\u003a");
}

export function listing(items: readonly string[], limit = MOST_SAID): string {
  const more = items.length > limit ? `, ... (${items.length - limit} more)` : "";
  return items.slice(0, limit).map(printable).join(", ") + more;
}

function joinWords(items: readonly string[]): string {
  return items.length > 1 ? `${items.slice(0, -1).join(", ")} and ${items.at(-1)}` : items.join("");
}

export const grouped = (count: number): string => count.toLocaleString("en-US");
export const plural = (count: number, noun: string): string => `${grouped(count)} ${noun}${count === 1 ? "" : "s"}`;

/** An option and a name as a shell takes them. */
function optionText(flag: string, name: string): string {
  const field = /[",]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name;
  return `${flag} ${/^[\w@%+=:,./-]+$/.test(field) ? field : `'${field.replaceAll("'", `'"'"'`)}'`}`;
}

/** Say one thing that was read otherwise than it was written. */
export function readingSentence({ kind, column = "", lines = [], values = [], count: told = 0 }: Note): string {
  const count = told || lines.length || 1;
  const said = lines.slice(0, MOST_SAID).map(grouped);
  const more = Math.max(lines.length ? count : 0, lines.length) - said.length;
  const outcome = kind === "looks_wide" ? "value" : printable(values[0] ?? "value");
  const are = count === 1 ? "is" : "are";
  const holes: Readonly<Record<string, string>> = {
    column: printable(column),
    values: listing(values),
    rest: listing(values.slice(1)),
    first: outcome,
    lines: `line${count > 1 ? "s" : ""} ${joinWords([...said, ...(more > 0 ? [`${grouped(more)} more`] : [])])}`,
    are,
    hold: count === 1 ? "holds" : "hold",
    count: plural(count, column || "row"),
    cells: plural(count, "cell"),
    levels: plural(count, "level"),
    plates: `${plural(count, "plate")} ${are}`,
    named: values.length ? `: ${listing(values)}` : "",
    cure: optionText("--wide", `${column || "factor"}=${outcome}`),
  };
  return SENTENCES[kind as keyof typeof SENTENCES].replace(/\{(\w+)\}/g, (_, name: string) => holes[name]!);
}
