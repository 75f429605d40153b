/** Tables as text: fields apart by comma, semicolon, tab or bar; quotes as in RFC 4180. */

import { type Grid, TableError } from "./grid.ts";
import { counted, strip } from "./texts.ts";

const NO_TEXT = "is not text; save it as CSV, or run recombine explore with its name";
/** A text in one byte per letter has no larger share of bytes beyond ASCII. */
const MOST_HIGH = 0.3;

/** Return bytes as text: UTF-8, UTF-16 with its mark, else one byte per letter as Windows writes them. */
export function decode(bytes: Uint8Array): string {
  const mark = bytes[0]! * 256 + bytes[1]!;
  if (mark === 0xfffe || mark === 0xfeff) return new TextDecoder(mark === 0xfffe ? "utf-16le" : "utf-16be").decode(bytes);
  if (bytes.includes(0)) throw new TableError(`the file ${NO_TEXT}`);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    const letters = new TextDecoder("latin1").decode(bytes);
    const high = bytes.reduce((count, byte) => count + +(byte > 127), 0);
    // Letters of several bytes, controls, and what Windows-1252 lacks.
    const other = /[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}|[\0-\x08\x0b\x0e-\x1f\x7f]/.test(latin1(bytes)) || /[\x81\x8d\x8f\x90\x9d]/.test(letters);
    if (other || high > MOST_HIGH * bytes.length) throw new TableError("the file is not text, or not in one encoding throughout; save it as UTF-8 CSV");
    return letters;
  }
}

/** Each byte as the letter of its number, which the browser's own latin1 is not. */
function latin1(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return text;
}

/** Letters and lines that tell the delimiter. */
const HEAD = 500_000;
const MOST_DELIMITED = 200;

/** Return the fields of a text, and the line at which each of its rows begins; a .tsv is apart by tabs. */
export function gridOfText(text: string, name = ""): Grid {
  const clean = text.replace(/^\uFEFF/, "").replace(/\r\n?/g, "\n");
  const mark = delimiterOf(clean, name);
  return mark === " " ? split(withTabs(clean), "\t") : split(clean, mark);
}

/** A text whose fields are apart by runs of blanks, with tabs in their place; the first line may have a field less, as R writes it. */
export function withTabs(text: string): string {
  const fields = (line: string): string[] => line.match(/"(?:\\.|""|[^"\\])*"(?=[ \t]|$)|[^ \t]+/g) ?? [];
  const lines = text.split("\n");
  const [first = 0, ...widths] = lines.filter(strip).slice(0, MOST_DELIMITED).map((line) => fields(line).length);
  const width = widths[0] ?? 0;
  if (width < 3 || widths.some((one) => one !== width) || (width !== first && width !== first + 1)) return text;
  return lines.map((line) => fields(line).join("\t").replaceAll('\\"', '""')).join("\n");
}

/** What stands between fields of most lines: a title above the header may hold none, or another. */
function delimiterOf(text: string, name: string): string {
  const lines = text.slice(0, HEAD).split("\n").filter(strip);
  const head = (lines[0] ?? "").replace(/"[^"]*"/g, "");
  const among = [",", ";", "\t", "|"];
  const usual = /\.tsv$/i.test(name) ? "\t" : among.reduce((best, mark) => (head.split(mark).length > head.split(best).length ? mark : best));
  const some = lines.slice(0, MOST_DELIMITED);
  const scores = [usual, ...among].map((mark) => ({ mark, ...fieldsOf(some, mark) }));
  if (scores[0]!.width > 1 && scores[0]!.alike === some.length) return usual;
  const sample = some.join("\n");
  if (withTabs(sample) !== sample) return " ";
  const worth = ({ alike, width }: { alike: number; width: number }): number => (width > 1 ? alike * 1e6 + width : 0);
  return scores.reduce((best, one) => (worth(one) > worth(best) ? one : best)).mark;
}

/** How many lines have as many fields as most have, and how many fields these are. */
function fieldsOf(lines: readonly string[], delimiter: string): { alike: number; width: number } {
  const widths = [...counted(split(lines.join("\n"), delimiter, true).rows.map((row) => row.length))];
  const better = (one: readonly number[], best: readonly number[]): number => +(one[0]! > 1) - +(best[0]! > 1) || one[1]! - best[1]! || one[0]! - best[0]!;
  const [width, alike] = widths.reduce((best, one) => (better(one, best) > 0 ? one : best), [0, 0]);
  return { alike, width };
}

export function split(text: string, mark: string, open = false): Grid {
  const rows: string[][] = [];
  const lines: number[] = [];
  let [row, field, quoted, quotes, line, first]: [string[], string, boolean, boolean, number, number] = [[], "", false, false, 1, 1];
  const end = (): void => {
    // A line without anything has no field.
    rows.push(row.length || field || quotes ? [...row, field] : []);
    lines.push(first);
    [row, field, quotes, first] = [[], "", false, line];
  };
  for (let at = 0; at < text.length; at++) {
    const letter = text[at]!;
    if (letter === "\n") line++;
    if (quoted) {
      if (letter !== '"') field += letter;
      else if (text[at + 1] === '"') {
        field += '"';
        at++;
      } else quoted = false;
    } else if (letter === '"' && !strip(field)) {
      field = "";
      quoted = quotes = true;
    }
    else if (letter === mark) {
      row.push(field);
      [field, quotes] = ["", false];
    } else if (letter === "\n") end();
    else field += letter;
  }
  if (quoted && !open) throw new TableError("a quote is opened and never closed; check the quotes");
  if (field || row.length || quotes) end();
  return { rows, merged: [], lines, delimiter: mark };
}
