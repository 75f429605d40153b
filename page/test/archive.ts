/** Archives and workbooks made by hand, so that tests can make broken ones. */

import { deflateRawSync } from "node:zlib";

const shifted = (crc: number): number => (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
const CRCS = Int32Array.from({ length: 256 }, (_, byte) => [...Array(8)].reduce(shifted, byte));

export function crc32(bytes: Uint8Array): number {
  return ~bytes.reduce((crc, byte) => (crc >>> 8) ^ CRCS[(crc ^ byte) & 255]!, -1) >>> 0;
}

/** Return a zip archive; `claimed` is the size that it says every file has. */
export function archive(files: Readonly<Record<string, string>>, { locked = false, claimed = -1 } = {}): Uint8Array {
  const [parts, directory]: [Uint8Array[], Uint8Array[]] = [[], []];
  let at = 0;
  for (const [name, text] of Object.entries(files)) {
    const [title, whole] = [name, text].map((one) => new TextEncoder().encode(one)) as [Uint8Array, Uint8Array];
    const packed = deflateRawSync(whole);
    const size = claimed < 0 ? whole.length : claimed;
    const shared = [2, 20, 2, Number(locked), 2, 8, 4, 0, 4, crc32(whole), 4, packed.length, 4, size, 2, title.length, 2, 0] as const;
    const local = Buffer.concat([numbers(4, 0x04034b50, ...shared), title, packed]);
    directory.push(Buffer.concat([numbers(4, 0x02014b50, 2, 20, ...shared, 2, 0, 2, 0, 2, 0, 4, 0, 4, at), title]));
    parts.push(local);
    at += local.length;
  }
  const size = directory.reduce((total, part) => total + part.length, 0);
  const count = directory.length;
  return new Uint8Array(Buffer.concat([...parts, ...directory, numbers(4, 0x06054b50, 4, 0, 2, count, 2, count, 4, size, 4, at, 2, 0)]));
}

/** Numbers of so many bytes each. */
function numbers(...pairs: readonly number[]): Uint8Array {
  const bytes: number[] = [];
  for (let at = 0; at < pairs.length; at += 2) for (let byte = 0; byte < pairs[at]!; byte++) bytes.push(Math.floor(pairs[at + 1]! / 256 ** byte) % 256);
  return Uint8Array.from(bytes);
}

const escape = (text: string): string => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/"/g, "&quot;");

interface Parts {
  readonly strings?: readonly string[];
  readonly formats?: readonly string[];
  readonly since1904?: boolean;
  readonly merged?: string;
  readonly claimed?: number;
}

/** Return a workbook whose sheets hold these rows, as XML. */
export function workbook(sheets: Readonly<Record<string, string>>, { strings = [], formats = [], since1904 = false, merged = "", claimed = -1 }: Parts = {}): Uint8Array {
  const names = Object.keys(sheets);
  const relation = (id: string, kind: string, target: string): string => `<Relationship Id="${id}" Type="urn:relationships/${kind}" Target="${target}"/>`;
  return archive(
    {
      "_rels/.rels": `<Relationships>${relation("rId1", "officeDocument", "xl/workbook.xml")}</Relationships>`,
      "xl/workbook.xml": `<?xml version="1.0"?><workbook xmlns:r="urn:r">${since1904 ? '<workbookPr date1904="1"/>' : ""}<sheets>${names.map((name, at) => `<sheet name="${escape(name)}" sheetId="${at + 1}" r:id="s${at}"/>`).join("")}</sheets></workbook>`,
      "xl/_rels/workbook.xml.rels": `<Relationships>${names.map((_, at) => relation(`s${at}`, "worksheet", at % 2 ? `/xl/worksheets/sheet${at + 1}.xml` : `worksheets/sheet${at + 1}.xml`)).join("")}${relation("t", "sharedStrings", "sharedStrings.xml")}${relation("f", "styles", "styles.xml")}</Relationships>`,
      "xl/sharedStrings.xml": `<sst>${strings.map((text) => `<si><t>${escape(text)}</t></si>`).join("")}</sst>`,
      "xl/styles.xml": `<styleSheet><numFmts>${formats.map((code, at) => `<numFmt numFmtId="${200 + at}" formatCode="${escape(code)}"/>`).join("")}</numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs>${formats.map((_, at) => `<xf numFmtId="${200 + at}"/>`).join("")}</cellXfs></styleSheet>`,
      ...Object.fromEntries(names.map((name, at) => [`xl/worksheets/sheet${at + 1}.xml`, `<?xml version="1.0"?><x:worksheet><x:sheetData>${sheets[name]}</x:sheetData>${merged}</x:worksheet>`])),
    },
    { claimed },
  );
}
