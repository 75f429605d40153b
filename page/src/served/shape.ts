/** Which part of a map is in view, and where its cells stand: numbers only, so that they can be tested. */

export type Pair = readonly [number, number];

export interface Room {
  readonly width: number;
  readonly tall: number;
  /** Pixels left of the cells, for names. */
  readonly left: number;
}

/** Cells smaller than the first are not shown whole but through a window of cells as large as the second. */
const [SMALLEST, WINDOWED, LARGEST] = [9, 14, 40];

/** Return how many rows and columns are shown of a map with so many levels, and the size of a cell. */
export function shapeOf(levels: Pair, room: Room): { shape: Pair; size: number } {
  const wide = Math.max(room.width - room.left, SMALLEST * 4);
  const whole = Math.floor(Math.min(wide / levels[1], room.tall / levels[0], LARGEST));
  if (whole >= SMALLEST) return { shape: levels, size: whole };
  const fits = (pixels: number): number => Math.max(1, Math.floor(pixels / WINDOWED));
  return { shape: [Math.min(levels[0], fits(room.tall)), Math.min(levels[1], fits(wide))], size: WINDOWED };
}

/** Return where a window begins so that it holds a place: where it is if it can, else with the place in its middle. */
export function firstFor(place: Pair, first: Pair, shape: Pair, levels: Pair): Pair {
  return [0, 1].map((side) => {
    const [at, from, long] = [place[side]!, first[side]!, shape[side]!];
    const start = at >= from && at < from + long ? from : at - Math.floor(long / 2);
    return clamp(start, 0, Math.max(levels[side]! - long, 0));
  }) as unknown as Pair;
}

/** Where one looks: the factors along the sides, and a level of every factor. */
export interface Look {
  readonly sides: Pair;
  readonly at: readonly number[];
}

/** Return a look as it stands behind the # of the link. */
export function packLook({ sides, at }: Look): string {
  return `at=${at.join(".")}&sides=${sides.join(".")}`;
}

/** Return the look that a link asks for; null where it asks for none that the table has. */
export function unpackLook(hash: string, levels: readonly number[]): Look | null {
  const parts = new URLSearchParams(hash.replace(/^#/, ""));
  const [at, sides] = ["at", "sides"].map((name) => (/^\d+(\.\d+)*$/.test(parts.get(name) ?? "") ? parts.get(name)!.split(".").map(Number) : []));
  const right = at!.length === levels.length && at!.every((level, factor) => level < levels[factor]!);
  const apart = sides!.length === 2 && sides![0] !== sides![1] && sides!.every((side) => side < levels.length);
  return right && apart ? { at: at!, sides: sides as unknown as Pair } : null;
}

export function clamp(value: number, least: number, most: number): number {
  return Math.min(Math.max(value, least), most);
}

/** Return the part of the whole that a window shows: left, top, width and height as shares. */
export function shareOf(first: Pair, shape: Pair, levels: Pair): readonly [number, number, number, number] {
  return [first[1] / levels[1], first[0] / levels[0], shape[1] / levels[1], shape[0] / levels[0]];
}

/** Return the row and column under a point; null outside. */
export function cellUnder(x: number, y: number, left: number, top: number, size: number, shape: Pair): Pair | null {
  const [row, column] = [Math.floor((y - top) / size), Math.floor((x - left) / size)];
  return row >= 0 && column >= 0 && row < shape[0] && column < shape[1] ? [row, column] : null;
}
