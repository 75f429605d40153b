/** Excel's .xlsx: sheets as grids of text, read by nothing but what the browser has. */

import { MOST_CELLS, MOST_NAMED, type Sheet, TableError } from "./grid.ts";
import { entriesOf, unpack } from "./zip.ts";

/** Number formats that are dates, as Excel numbers its own. */
const DATES = [[14, 22], [27, 36], [45, 47], [50, 58]] as const;
const DAY = 86_400_000;
/** Rows and columns of the largest sheet. */
const [MOST_ROWS, MOST_COLUMNS] = [1_048_576, 16_384];

interface Book {
  readonly strings: readonly string[];
  /** Whether the cells of a style are dates, or times that may be longer than a day. */
  readonly dates: readonly ("" | "date" | "time")[];
  /** Day 0, in milliseconds since 1970. */
  readonly origin: number;
}

/** Return the sheets of a workbook that hold a cell, in its order. */
export async function readXlsx(bytes: Uint8Array): Promise<Sheet[]> {
  const entries = entriesOf(bytes);
  const text = async (path: string): Promise<string> => {
    const entry = entries.get(path);
    return entry ? new TextDecoder().decode(await unpack(bytes, entry)) : "";
  };
  const path = [...related(await text("_rels/.rels"), "").values()].find(({ type }) => type === "officeDocument")?.path ?? "xl/workbook.xml";
  const folder = path.slice(0, path.lastIndexOf("/") + 1);
  const parts = related(await text(`${folder}_rels/${path.slice(folder.length)}.rels`), folder);
  const workbook = await text(path);
  if (!workbook || path.endsWith(".bin")) throw new TableError("this is no workbook that the page reads; save it as .xlsx or CSV, or run recombine explore with its name");
  const part = (kind: string): Promise<string> => text([...parts.values()].find(({ type }) => type === kind)?.path ?? "");
  const book = {
    strings: stringsOf(await part("sharedStrings")),
    dates: datesOf(await part("styles")),
    origin: /<(?:\w+:)?workbookPr[^>]*\sdate1904\s*=\s*["'](?:1|true)/.test(workbook) ? Date.UTC(1904) : Date.UTC(1899, 11, 30),
  };
  const sheets: Sheet[] = [];
  for (const [name, id] of sheetsOf(workbook)) {
    const found = parts.get(id);
    if (found?.type !== "worksheet") continue;
    const sheet = sheetOf(await text(found.path), book, name);
    if (sheet.grid.rows.length) sheets.push(sheet);
  }
  if (!sheets.length) throw new TableError("no sheet of the workbook holds a cell");
  return sheets;
}

// Comments, instructions and declarations are passed over; what CDATA holds is text; entities of a document's own are none.
const TAG = /<(?:!--[^]*?-->|!\[CDATA\[([^]*?)\]\]>|[?!][^>]*>|(\/?)(?:[\w.-]+:)?([\w.-]+)((?:\s+[^\s=<>/]+\s*=\s*(?:"[^"]*"|'[^']*'))*)\s*(\/?)>)/g;

/** Tell of every element: where it opens, and with its text where it closes. */
function scan(xml: string, opens: (name: string, attributes: string) => void, closes: (name: string, text: string) => void): void {
  let [text, last] = ["", 0];
  for (const tag of xml.matchAll(TAG)) {
    text += plain(xml.slice(last, tag.index).replace(/\r\n?/g, "\n")) + (tag[1] ?? "");
    last = tag.index + tag[0].length;
    const name = tag[3];
    if (!name) continue;
    if (!tag[2]) opens(name, tag[4]!);
    if (tag[2] || tag[5]) closes(name, tag[2] ? text : "");
    text = "";
  }
}

const MARKS: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

function plain(text: string): string {
  if (!text.includes("&")) return text;
  return text.replace(/&(?:#(\d+)|#x([\da-f]+)|(\w+));/gi, (whole, number?: string, hexadecimal?: string, name?: string) => {
    if (name) return MARKS[name] ?? whole;
    const code = number ? Number(number) : parseInt(hexadecimal!, 16);
    return code < 0x110000 ? String.fromCodePoint(code) : whole;
  });
}

function attribute(attributes: string, name: string): string | undefined {
  const found = new RegExp(`\\s(?:[\\w.-]+:)?${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)')`).exec(attributes);
  return found ? plain(found[1] ?? found[2]!) : undefined;
}

/** Paths and kinds of the parts that a part names. */
function related(xml: string, folder: string): Map<string, { path: string; type: string }> {
  const found = new Map<string, { path: string; type: string }>();
  scan(xml, (name, attributes) => {
    if (name !== "Relationship") return;
    const target = attribute(attributes, "Target") ?? "";
    // The browser's own reading of addresses: ../ goes up, / begins at the top.
    const path = new URL(target, `file:///${folder}`).pathname.slice(1);
    found.set(attribute(attributes, "Id") ?? "", { path: decodeURIComponent(path), type: (attribute(attributes, "Type") ?? "").replace(/.*\//, "") });
  }, () => undefined);
  return found;
}

/** Names of sheets and of their relations; hidden ones come last. */
function sheetsOf(xml: string): [string, string][] {
  const found: [string, string][] = [];
  const hidden: typeof found = [];
  scan(xml, (name, attributes) => {
    // The name of a relation has a prefix; sheetId has none.
    if (name === "sheet") (/\sstate\s*=\s*.\w*hidden/i.test(attributes) ? hidden : found).push([attribute(attributes, "name") ?? "", /\s[\w.-]+:id\s*=\s*["']([^"']*)/.exec(attributes)?.[1] ?? ""]);
  }, () => undefined);
  return [...found, ...hidden];
}

/** Texts that cells share; what is written above letters to say how they sound is left out. */
function stringsOf(xml: string): string[] {
  const found: string[] = [];
  let [text, aside] = ["", false];
  scan(
    xml,
    (name) => {
      if (name === "si") text = "";
      if (name === "rPh") aside = true;
    },
    (name, inside) => {
      if (name === "t" && !aside) text += inside;
      if (name === "rPh") aside = false;
      if (name === "si") found.push(unescaped(text));
    },
  );
  return found;
}

function datesOf(xml: string): Book["dates"] {
  const own = new Map<number, string>();
  const styles: Book["dates"][number][] = [];
  let cells = false;
  scan(
    xml,
    (name, attributes) => {
      if (name === "numFmt") own.set(Number(attribute(attributes, "numFmtId")), attribute(attributes, "formatCode") ?? "");
      if (name === "cellXfs") cells = true;
      if (name === "xf" && cells) styles.push(dateKind(Number(attribute(attributes, "numFmtId")), own));
    },
    (name) => {
      if (name === "cellXfs") cells = false;
    },
  );
  return styles;
}

/** A format is a date's if, its quoted texts, colours and conditions apart, it writes a day, month, year or time. */
function dateKind(id: number, own: ReadonlyMap<number, string>): "" | "date" | "time" {
  const code = own.get(id);
  if (code === undefined) return id === 46 ? "time" : DATES.some(([first, last]) => first <= id && id <= last) ? "date" : "";
  const shown = code.split(";")[0]!.replace(/"[^"]*"|\\.|_.|\*.|\[(?!h+\]|m+\]|s+\])[^\]]*\]/gi, "");
  return shown.includes("[") ? "time" : /[dmyhs]/i.test(shown) ? "date" : "";
}

/** The cells of a sheet; what went wrong in them is empty and noted, and a formula must have been worked out by who saved it. */
function sheetOf(xml: string, book: Book, sheet: string): Sheet {
  const rows: string[][] = [];
  const merged: [number, number, number, number][] = [];
  const [unsolved, errors]: [string[], string[]] = [[], []];
  let [row, column, type, style, text, inline, formula, aside, count] = [-1, -1, "", 0, "", "", false, false, 0];
  scan(
    xml,
    (name, attributes) => {
      if (name === "row") {
        row = Number(attribute(attributes, "r") ?? row + 2) - 1;
        column = -1;
      } else if (name === "c") {
        [row, column] = placeOf(attribute(attributes, "r")) ?? [row, column + 1];
        type = attribute(attributes, "t") ?? "n";
        style = Number(attribute(attributes, "s") ?? 0);
        [text, inline, formula] = ["", "", false];
      } else if (name === "f") formula = true;
      else if (name === "rPh") aside = true;
      else if (name === "mergeCell") {
        const [first, last] = (attribute(attributes, "ref") ?? "").split(":").map(placeOf);
        if (first && last) merged.push([...first, ...last]);
      }
    },
    (name, inside) => {
      if (name === "v") text = inside;
      else if (name === "t" && !aside) inline += inside;
      else if (name === "rPh") aside = false;
      if (name !== "c") return;
      if (formula && !text && type !== "str") unsolved.push(nameOf(row, column));
      if (type === "e") errors.push(nameOf(row, column));
      const told = type === "e" ? "" : type === "inlineStr" ? unescaped(inline) : textOf(text, type, style, book);
      if (!told) return;
      if (!(row >= 0 && row < MOST_ROWS && column < MOST_COLUMNS)) throw new TableError(`sheet ${sheet} is damaged; copy the file again`);
      const fields = (rows[row] ??= []);
      count += Math.max(0, column + 1 - fields.length);
      if (count > MOST_CELLS) throw new TableError(`sheet ${sheet} has more than ${MOST_CELLS / 1e6} million cells, more than the page takes; run recombine explore with its name`);
      while (fields.length < column) fields.push("");
      fields[column] = told;
    },
  );
  const more = unsolved.length > 1 ? ` and ${unsolved.length - 1} more` : "";
  const lines = [...new Set(errors.map((cell) => Number(cell.replace(/\D/g, ""))))].sort((one, two) => one - two);
  return {
    name: sheet,
    grid: { rows: Array.from(rows, (fields) => fields ?? []), merged },
    notes: errors.length ? [{ kind: "error_cell", lines: lines.slice(0, MOST_NAMED), values: errors.slice(0, MOST_NAMED), count: errors.length }] : [],
    fault: unsolved.length ? `the formula in cell ${unsolved[0]}${more} of sheet ${sheet} has no stored result; open the file in a spreadsheet program and save it again` : "",
  };
}

function placeOf(name = ""): [number, number] | undefined {
  const found = /^\$?([A-Z]{1,3})\$?(\d{1,7})$/.exec(name);
  if (!found) return undefined;
  return [Number(found[2]) - 1, [...found[1]!].reduce((at, letter) => 26 * at + letter.charCodeAt(0) - 64, 0) - 1];
}

function nameOf(row: number, column: number): string {
  let letters = "";
  for (let left = column + 1; left > 0; left = Math.floor((left - 1) / 26)) letters = String.fromCharCode(65 + ((left - 1) % 26)) + letters;
  return `${letters}${row + 1}`;
}

function textOf(text: string, type: string, style: number, { strings, dates, origin }: Book): string {
  if (type === "s") return strings[Number(text)] ?? "";
  if (type === "b") return text ? (text === "1" || text === "true" ? "TRUE" : "FALSE") : "";
  if (type !== "n" || !text) return unescaped(text);
  const number = Number(text);
  if (!Number.isFinite(number)) return text;
  return dates[style] === "time" ? timeText(number) : dates[style] ? dateText(number, origin) : numberText(number);
}

/** Letters that XML cannot hold are written by their number. */
function unescaped(text: string): string {
  return text.replace(/_x([\dA-F]{4})_/gi, (_, code: string) => String.fromCharCode(parseInt(code, 16)));
}

/** A day, a day and a time, or a time alone. */
function dateText(number: number, origin: number): string {
  // Excel counts a 29 February 1900 that never was.
  const day = origin < Date.UTC(1900) && number < 60 && number >= 1 ? number + 1 : number;
  const date = new Date(origin + Math.round(day * DAY));
  if (Number.isNaN(date.getTime()) || number < 0) return numberText(number);
  const [whole, time] = date.toISOString().replace(/(\.000|(\.\d+))Z$/, (_, __, part?: string) => (part ? `${part}000` : "")).split("T") as [string, string];
  if (number < 1) return time;
  return time === "00:00:00" ? whole : `${whole}T${time}`;
}

/** A time that may be longer than a day, as Python writes it. */
function timeText(number: number): string {
  const seconds = Math.round(number * 86_400);
  const days = Math.floor(seconds / 86_400);
  const [hours, minutes, rest] = [seconds / 3600, seconds / 60, seconds].map((part, at) => Math.floor(part) - 60 * (at ? Math.floor(part / 60) : 0)) as [number, number, number];
  const told = `${hours - 24 * days}:${String(minutes).padStart(2, "0")}:${String(rest).padStart(2, "0")}`;
  return days ? `${days} day${Math.abs(days) === 1 ? "" : "s"}, ${told}` : told;
}

/** The shortest text of a number, as Python writes it. */
export function numberText(number: number): string {
  const size = Math.abs(number);
  if (Number.isInteger(number) && size < 2 ** 53) return String(number === 0 ? 0 : number);
  if (size >= 1e-4 && size < 1e16) return String(number);
  return number.toExponential().replace(/e([+-])(\d)$/, "e$10$2");
}
