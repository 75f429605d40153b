/** The map on a canvas: verdicts of the cells in view, the certificate's signed cells, the cell that is asked about. */

import { shorten } from "../view/layout.ts";
import { between, colourOf, type Inks } from "../view/looks.ts";
import type { BinsRecord, TermRecord, VerdictRecord, WindowRecord } from "./asking.ts";
import { type Pair, shareOf } from "./shape.ts";

export interface Places {
  readonly left: number;
  readonly top: number;
  readonly size: number;
  readonly shape: Pair;
}

export interface MapFrame {
  readonly view: WindowRecord;
  readonly verdicts: readonly VerdictRecord[];
  readonly inks: Inks;
  /** Level numbers of the cell that is asked about; null for none. */
  readonly asked: readonly number[] | null;
  readonly terms: readonly TermRecord[];
  readonly sides: Pair;
  /** A level of every factor: those not on a side are the slice. */
  readonly at: readonly number[];
}

/** Return a level's name as it stands beside the map. */
const nameOf = (label: string): string => shorten(label) || "(blank)";

const UNSEEN_LEVEL = 3;
const [DARK_MARK, LIGHT_MARK] = ["#1f232a", "#fefefe"];

/** Return the colour of a verdict; what cannot exist looks like the paper. */
export function colourFor(verdicts: readonly VerdictRecord[], code: number, inks: Inks): string {
  if (code === UNSEEN_LEVEL) return inks.unseen;
  return verdicts[code]?.colour ?? inks.paper;
}

/** Return the index in view of a cell's levels; null where it lies outside or in another slice. */
export function placeIn({ view, sides, at }: Pick<MapFrame, "view" | "sides" | "at">, cell: readonly number[]): Pair | null {
  const here = cell.every((level, factor) => factor === sides[0] || factor === sides[1] || level === at[factor]);
  const place = [view.levels[0].indexOf(cell[sides[0]]!), view.levels[1].indexOf(cell[sides[1]]!)] as const;
  return here && place[0] >= 0 && place[1] >= 0 ? place : null;
}

/** Size the canvas for these levels and return where its cells stand. */
export function layMap(canvas: HTMLCanvasElement, view: WindowRecord, size: number, room: number, inks: Inks): Places {
  const context = canvas.getContext("2d")!;
  context.font = fontOf(size, inks);
  const widest = (names: readonly string[]): number => names.reduce((best, name) => Math.max(best, context.measureText(nameOf(name)).width), 0);
  const left = Math.ceil(Math.min(widest(view.labels[0]), room - 12)) + 10;
  const across = widest(view.labels[1]);
  const top = Math.ceil(across > size - 3 ? Math.min(across, 130) + 10 : 20);
  const shape: Pair = [view.levels[0].length, view.levels[1].length];
  const ratio = window.devicePixelRatio || 1;
  const [width, height] = [left + shape[1] * size + 3, top + shape[0] * size + 3]; // frames stand out a little
  [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
  [canvas.style.width, canvas.style.height] = [`${width}px`, `${height}px`];
  return { left, top, size, shape };
}

function fontOf(size: number, inks: Inks): string {
  return `${Math.min(12, Math.max(9, size * 0.75))}px ${inks.font}`;
}

export function drawMap(canvas: HTMLCanvasElement, places: Places, frame: MapFrame): void {
  const context = canvas.getContext("2d")!;
  const ratio = window.devicePixelRatio || 1;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, canvas.width, canvas.height);
  drawNames(context, places, frame);
  const { left, top, size, shape } = places;
  const gap = size > 20 ? 2 : 1;
  context.textAlign = "center";
  context.textBaseline = "middle";
  for (let row = 0, at = 0; row < shape[0]; row++) {
    for (let column = 0; column < shape[1]; column++, at++) {
      const code = frame.view.codes.charCodeAt(at) - 48;
      context.fillStyle = colourFor(frame.verdicts, code, frame.inks);
      context.fillRect(left + column * size, top + row * size, size - gap, size - gap);
      const look = frame.verdicts[code];
      // Seen and determined cells are the most; colour tells them apart, and a symbol on each would be noise.
      if (!look || code < 2 || size < 12) continue;
      context.fillStyle = code === UNSEEN_LEVEL ? frame.inks.paper : markOn(look.colour);
      context.font = `${Math.round(size * 0.6)}px ${frame.inks.font}`;
      context.fillText(look.symbol, left + (column + 0.5) * size - gap / 2, top + (row + 0.55) * size - gap / 2);
    }
  }
  for (const term of frame.terms) drawTerm(context, places, frame, term);
  const place = frame.asked && placeIn(frame, frame.asked);
  if (place) outline(context, places, place, frame.inks.ink, frame.inks.paper);
}

function markOn(colour: string): string {
  const [red, green, blue] = colourOf(colour);
  return 0.299 * red + 0.587 * green + 0.114 * blue < 140 ? LIGHT_MARK! : DARK_MARK!;
}

function drawNames(context: CanvasRenderingContext2D, { left, top, size, shape }: Places, { view, inks }: MapFrame): void {
  context.font = fontOf(size, inks);
  context.fillStyle = inks.soft;
  context.textBaseline = "middle";
  context.textAlign = "right";
  // Names that would overlap are left out; pointing at a cell gives them all.
  const every = Math.max(1, Math.ceil(11 / size));
  for (let row = 0; row < shape[0]; row += every) context.fillText(nameOf(view.labels[0][row]!), left - 6, top + (row + 0.5) * size, left - 8);
  context.textAlign = "left";
  const turned = top > 20;
  for (let column = 0; column < shape[1]; column += every) {
    const name = nameOf(view.labels[1][column]!);
    context.save();
    context.translate(left + (column + 0.5) * size, top - 6);
    if (turned) context.rotate(-Math.PI / 2);
    else context.textAlign = "center";
    context.fillText(name, 0, 0, turned ? top - 8 : size);
    context.restore();
  }
}

/** A seen cell of the certificate: framed, with its sign. */
function drawTerm(context: CanvasRenderingContext2D, places: Places, frame: MapFrame, term: TermRecord): void {
  const place = placeIn(frame, term.cell);
  if (!place) return;
  const { left, top, size } = places;
  outline(context, places, place, frame.inks.accent, frame.inks.paper);
  const [x, y] = [left + (place[1] + 0.5) * size - 0.5, top + (place[0] + 0.5) * size - 0.5];
  context.fillStyle = DARK_MARK!;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.font = `bold ${Math.max(11, Math.round(size * 0.7))}px ${frame.inks.font}`;
  context.fillText(term.sign, x, y + 0.5);
}

function outline(context: CanvasRenderingContext2D, { left, top, size }: Places, [row, column]: Pair, ink: string, halo: string): void {
  const box = [left + column * size - 1.5, top + row * size - 1.5, size + 1, size + 1] as const;
  context.lineWidth = 4;
  context.strokeStyle = halo;
  context.strokeRect(...box);
  context.lineWidth = 2;
  context.strokeStyle = ink;
  context.strokeRect(...box);
}

/** Draw the whole slice, and a frame around the part that the window shows. */
export function drawWhole(canvas: HTMLCanvasElement, bins: BinsRecord, verdicts: readonly VerdictRecord[], inks: Inks, first: Pair, shape: Pair, levels: Pair): void {
  const [rows, columns] = bins.shape;
  const image = new ImageData(columns, rows);
  const seen = colourOf(verdicts[0]!.colour);
  for (let at = 0; at < rows * columns; at++) {
    const colour = colourOf(colourFor(verdicts, bins.leading.charCodeAt(at) - 48, inks));
    image.data.set([...between(colour, seen, (bins.seen.charCodeAt(at) - 48) / 9), 255], at * 4);
  }
  const small = document.createElement("canvas");
  [small.width, small.height] = [columns, rows];
  small.getContext("2d")!.putImageData(image, 0, 0);
  const [width, height] = [200, Math.round(clampRatio(rows / columns) * 200)];
  const ratio = window.devicePixelRatio || 1;
  [canvas.width, canvas.height] = [width * ratio, height * ratio];
  [canvas.style.width, canvas.style.height] = [`${width}px`, `${height}px`];
  const context = canvas.getContext("2d")!;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.imageSmoothingEnabled = false;
  context.drawImage(small, 0, 0, width, height);
  const [x, y, wide, tall] = shareOf(first, shape, levels);
  const box = [x * width + 1, y * height + 1, Math.max(wide * width - 2, 4), Math.max(tall * height - 2, 4)] as const;
  context.lineWidth = 4;
  context.strokeStyle = inks.paper;
  context.strokeRect(...box);
  context.lineWidth = 2;
  context.strokeStyle = inks.ink;
  context.strokeRect(...box);
}

/** Long sides are not drawn to scale: both have to be seen. */
function clampRatio(ratio: number): number {
  return Math.min(Math.max(ratio, 0.2), 1.5);
}
