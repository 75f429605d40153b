/** Tables as text: fields apart by comma, semicolon, tab or bar; quotes as in RFC 4180. */

import { type Grid, TableError } from "./grid.ts";

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

/** Return the fields of a text, and the line at which each of its rows begins. */
export function gridOfText(text: string): Grid {
  const clean = text.replace(/^\uFEFF/, "");
  return split(clean, separatorOf(clean));
}

/** The separator that is most frequent in the first line, outside quotes. */
function separatorOf(text: string): string {
  const head = text.slice(0, text.search(/[\r\n]|$/)).replace(/"[^"]*"/g, "");
  const counts = [",", ";", "\t", "|"].map((mark) => [head.split(mark).length, mark] as const);
  return counts.reduce((best, one) => (one[0] > best[0] ? one : best))[1];
}

function split(text: string, mark: string): Grid {
  const rows: string[][] = [];
  const lines: number[] = [];
  let [row, field, quoted, line, first]: [string[], string, boolean, number, number] = [[], "", false, 1, 1];
  const end = (): void => {
    rows.push([...row, field]);
    lines.push(first);
    [row, field, first] = [[], "", line];
  };
  for (let at = 0; at < text.length; at++) {
    const letter = text[at]!;
    const ends = letter === "\n" || (letter === "\r" && text[at + 1] !== "\n");
    if (ends) line++;
    if (quoted) {
      if (letter !== '"') field += letter;
      else if (text[at + 1] === '"') {
        field += '"';
        at++;
      } else quoted = false;
    } else if (letter === '"' && !field) quoted = true;
    else if (letter === mark) {
      row.push(field);
      field = "";
    } else if (ends) end();
    else if (letter !== "\r") field += letter;
  }
  if (quoted) throw new TableError("a quote is opened and never closed; check the quotes");
  if (field || row.length) end();
  return { rows, merged: [], lines, delimiter: mark };
}
