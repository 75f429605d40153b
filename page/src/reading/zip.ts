/** Packed files: gzip, and the entries of a zip archive. Sizes that a file claims are never believed. */

import { TableError } from "./grid.ts";

/** Bytes up to which something is unpacked. */
const MOST_BYTES = 100e6;
const DAMAGED = "the file is cut or damaged; copy it again";

interface Entry {
  readonly method: number;
  readonly locked: boolean;
  readonly crc: number;
  readonly packed: number;
  /** Where its own header begins. */
  readonly at: number;
}

/** Return the directory of an archive: where each file lies in it. */
export function entriesOf(bytes: Uint8Array): Map<string, Entry> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  try {
    let end = bytes.length - 22;
    while (view.getUint32(end, true) !== 0x06054b50) end--; // before the first byte the view refuses
    let at = view.getUint32(end + 16, true);
    const entries = new Map<string, Entry>();
    for (let left = view.getUint16(end + 10, true); left > 0; left--) {
      if (view.getUint32(at, true) !== 0x02014b50) throw new RangeError();
      const [name, more, comment] = [28, 30, 32].map((place) => view.getUint16(at + place, true)) as [number, number, number];
      entries.set(new TextDecoder().decode(bytes.subarray(at + 46, at + 46 + name)), {
        method: view.getUint16(at + 10, true),
        locked: Boolean(view.getUint16(at + 8, true) & 1),
        crc: view.getUint32(at + 16, true),
        packed: view.getUint32(at + 20, true),
        at: view.getUint32(at + 42, true),
      });
      at += 46 + name + more + comment;
    }
    return entries;
  } catch (error) {
    throw error instanceof RangeError ? new TableError(DAMAGED) : error;
  }
}

/** Return what an entry holds, whole and unharmed. */
export async function unpack(bytes: Uint8Array, { method, locked, crc, packed, at }: Entry): Promise<Uint8Array> {
  if (locked) throw new TableError("the file is locked by a password; save it without one");
  if (at + 30 > bytes.length) throw new TableError(DAMAGED);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const start = at + 30 + view.getUint16(at + 26, true) + view.getUint16(at + 28, true);
  if ((method && method !== 8) || start + packed > bytes.length) throw new TableError(DAMAGED);
  const stored = bytes.subarray(start, start + packed);
  const whole = method ? await inflate(stored, "deflate-raw") : stored;
  if (crcOf(whole) !== crc) throw new TableError(DAMAGED);
  return whole;
}

/** Unpack, and stop where it becomes more than a table needs. */
export async function inflate(bytes: Uint8Array, format: "gzip" | "deflate-raw"): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let size = 0;
  const reader = new Blob([bytes as BlobPart]).stream().pipeThrough(new DecompressionStream(format)).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      size += value.length;
      if (size > MOST_BYTES) throw new TableError(`unpacked the file has more than ${MOST_BYTES / 1e6} MB, more than the page takes; run recombine explore with its name`);
      parts.push(value);
    }
  } catch (error) {
    if (error instanceof TableError) void reader.cancel();
    throw error instanceof TableError ? error : new TableError(DAMAGED);
  }
  const whole = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

const CRCS = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  return crc;
});

function crcOf(bytes: Uint8Array): number {
  let crc = -1;
  for (const byte of bytes) crc = (crc >>> 8) ^ CRCS[(crc ^ byte) & 255]!;
  return ~crc >>> 0;
}
