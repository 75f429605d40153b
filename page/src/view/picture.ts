/** One of the three pictures of the grid, drawn on a canvas: cells, marks, certificate, suggestions, focus. */

import { type Certificate, type Suggestion, Verdict, type VerdictCode } from "../engine/index.ts";
import type { Following } from "./analysis.ts";
import { type Layout, placeOf } from "./layout.ts";
import { between, type Colour, colourOf, decimalsFor, type Fill, gapFill, type Inks, LOOKS, round, timeOf, valueFill } from "./looks.ts";
import { cellAt, type Scene, sizesOf } from "./scene.ts";

export type PictureKind = "seen" | "follows" | "network";

export interface Frame {
  readonly scene: Scene;
  readonly following: Following;
  readonly predictions: Float64Array | null;
  readonly proof: Certificate | null;
  readonly suggestions: readonly Suggestion[];
  readonly focus: number;
  /** Cells of the first picture that ask to be painted, or that a player has painted. */
  readonly marked: readonly number[];
  readonly inks: Inks;
}

/** Return what the network misses at a cell: the gap to what follows, or to the truth where nothing follows. */
export function gapAt({ following, predictions }: Frame, cell: number): number {
  if (!predictions) return NaN;
  const verdict = following.found.verdicts[cell];
  if (verdict === Verdict.SEEN) return 0;
  const right = verdict === Verdict.DETERMINED ? following.fit?.values[cell] : following.truth[cell];
  return predictions[cell]! - (right ?? NaN);
}

/** Return half the span of the values: a gap that large takes the strongest colour. */
export function gapLimit(following: Following): number {
  return (following.limits[1] - following.limits[0]) / 2 || 1;
}

interface Look {
  readonly fill: Fill | null;
  readonly number: number;
  readonly verdict: VerdictCode;
}

function lookAt(frame: Frame, kind: PictureKind, cell: number): Look {
  const { following, scene, predictions } = frame;
  const verdict = following.found.verdicts[cell] as VerdictCode;
  const { limits } = following;
  let number = NaN;
  if (kind === "network") {
    if (scene.show === "misses") {
      number = gapAt(frame, cell);
      return { fill: Number.isFinite(number) ? gapFill(number, gapLimit(following), timeOf(frame.inks)) : null, number, verdict };
    }
    number = predictions?.[cell] ?? NaN;
  } else if (verdict === Verdict.SEEN) number = following.outcome[cell]!;
  else if (kind === "follows" && verdict === Verdict.DETERMINED) number = following.fit?.values[cell] ?? NaN;
  return { fill: Number.isFinite(number) ? valueFill(number, limits) : null, number, verdict };
}

export function drawPicture(canvas: HTMLCanvasElement, layout: Layout, frame: Frame, kind: PictureKind): void {
  const context = canvas.getContext("2d");
  if (!context) return;
  const ratio = window.devicePixelRatio || 1;
  const [width, height] = [Math.round(layout.width * ratio), Math.round(layout.height * ratio)];
  if (canvas.width !== width || canvas.height !== height) {
    [canvas.width, canvas.height] = [width, height];
    canvas.style.height = `${layout.height}px`;
  }
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, layout.width, layout.height);
  drawLabels(context, layout, frame);
  drawCells(context, layout, frame, kind);
  if (kind !== "network") {
    drawSuggestions(context, layout, frame);
    drawProof(context, layout, frame, kind);
  }
  if (kind === "seen") for (const cell of frame.marked) drawInvitation(context, layout, frame, cell);
  drawFocus(context, layout, frame);
}

function drawInvitation(context: CanvasRenderingContext2D, layout: Layout, { scene, inks }: Frame, cell: number): void {
  const place = placeOf(scene, cell);
  if (!place) return;
  const side = layout.cell - layout.gap;
  context.strokeStyle = scene.seen[cell] ? inks.ink : inks.accent;
  context.lineWidth = 2;
  context.setLineDash([4, 3]);
  context.strokeRect(layout.left + place[1] * layout.cell + 1, layout.top + place[0] * layout.cell + 1, side - 2, side - 2);
  context.setLineDash([]);
}

/** Colours first, as one small image enlarged: thousands of cells at once. Then gaps, marks and numbers. */
function drawCells(context: CanvasRenderingContext2D, layout: Layout, frame: Frame, kind: PictureKind): void {
  const { scene, inks } = frame;
  const { cell: size, left, top, rows, columns } = layout;
  const image = new ImageData(columns, rows);
  const looks: Look[] = [];
  const wash = colourOf(inks.wash);
  // Where a cell is too small for its symbol, colour alone tells the verdict.
  const tiny = size < 12;
  const open = between(wash, colourOf(LOOKS[2]!.colour), tiny ? 0.5 : 0.17);
  const unknown = between(wash, colourOf(inks.unseen), tiny ? 0.4 : 0);
  const plain = (verdict: VerdictCode): Colour => (kind !== "follows" ? wash : verdict === Verdict.DISCONNECTED ? open : verdict === Verdict.UNSEEN_LEVEL ? unknown : wash);
  for (let row = 0, at = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++, at += 4) {
      const look = lookAt(frame, kind, cellAt(scene, row, column));
      const [red, green, blue] = look.fill?.colour ?? plain(look.verdict);
      image.data[at] = red;
      image.data[at + 1] = green;
      image.data[at + 2] = blue;
      image.data[at + 3] = 255;
      looks.push(look);
    }
  }
  [scratch.width, scratch.height] = [columns, rows];
  scratch.getContext("2d")?.putImageData(image, 0, 0);
  context.imageSmoothingEnabled = false;
  context.drawImage(scratch, left, top, columns * size, rows * size);
  if (layout.gap) {
    context.fillStyle = inks.paper;
    for (let row = 1; row <= rows; row++) context.fillRect(left, top + row * size - layout.gap, columns * size, layout.gap);
    for (let column = 1; column <= columns; column++) context.fillRect(left + column * size - layout.gap, top, layout.gap, rows * size);
  }
  drawMarks(context, layout, looks, kind, inks);
  if (size >= NUMBERED) drawNumbers(context, layout, looks, frame, kind);
}

const scratch = document.createElement("canvas");
/** Pixels a cell needs for a number in it. */
const NUMBERED = 25;

/** The verdicts' symbols: in the middle where there is no number, small in the corner where there is one. */
function drawMarks(context: CanvasRenderingContext2D, layout: Layout, looks: readonly Look[], kind: PictureKind, inks: Inks): void {
  if (kind === "network") return;
  const { cell: size, left, top, columns } = layout;
  const side = size - layout.gap;
  const numbered = size >= NUMBERED;
  const dots = new Map<string, Path2D>();
  const [crosses, squares] = [new Path2D(), new Path2D()];
  const edgeOff = size < 32 ? 3 : 5.5;
  const [arm, edge] = [Math.max(1.2, side * 0.15), Math.max(1.5, side * 0.26)];
  looks.forEach(({ verdict, fill }, at) => {
    const [x, y] = [left + (at % columns) * size, top + Math.floor(at / columns) * size];
    const [cx, cy] = [x + side / 2, y + side / 2];
    if (verdict === Verdict.SEEN) {
      if (!fill) hatch(context, x, y, side, inks.soft);
    } else if (kind === "seen") return;
    else if (verdict === Verdict.DETERMINED) {
      const ink = fill?.ink ?? LOOKS[1]!.colour;
      if (!dots.has(ink)) dots.set(ink, new Path2D());
      const corner = numbered && fill;
      const [px, py, radius] = corner ? [x + side - edgeOff, y + edgeOff, size < 32 ? 1.6 : 2.6] : [cx, cy, Math.max(0.8, side * 0.17)];
      dots.get(ink)!.moveTo(px + radius, py);
      dots.get(ink)!.arc(px, py, radius, 0, 2 * Math.PI);
    } else if (verdict === Verdict.UNSEEN_LEVEL) squares.rect(cx - edge / 2, cy - edge / 2, edge, edge);
    else {
      crosses.moveTo(cx - arm, cy - arm);
      crosses.lineTo(cx + arm, cy + arm);
      crosses.moveTo(cx + arm, cy - arm);
      crosses.lineTo(cx - arm, cy + arm);
    }
  });
  for (const [ink, path] of dots) {
    context.fillStyle = ink;
    context.fill(path);
  }
  context.fillStyle = inks.unseen;
  context.fill(squares);
  context.strokeStyle = LOOKS[2]!.colour;
  context.lineWidth = Math.max(1, side * 0.06);
  context.stroke(crosses);
}

function drawNumbers(context: CanvasRenderingContext2D, layout: Layout, looks: readonly Look[], { scene, following, inks }: Frame, kind: PictureKind): void {
  const decimals = decimalsFor(following.limits);
  const font = `${Math.min(13, Math.max(9.5, layout.cell * 0.36))}px ${inks.font}`;
  const side = layout.cell - layout.gap;
  const gap = kind === "network" && scene.show === "misses";
  context.textAlign = "center";
  context.textBaseline = "middle";
  looks.forEach(({ fill, number, verdict }, at) => {
    if (!fill || (gap && verdict === Verdict.SEEN)) return;
    context.fillStyle = fill.ink;
    context.font = verdict === Verdict.SEEN ? `600 ${font}` : font;
    const [x, y] = [layout.left + (at % layout.columns) * layout.cell, layout.top + Math.floor(at / layout.columns) * layout.cell];
    context.fillText(`${gap && number > 0 ? "+" : ""}${round(number, decimals)}`, x + side / 2, y + side / 2 + 0.5);
  });
}

function dot(context: CanvasRenderingContext2D, x: number, y: number, radius: number, colour: string): void {
  context.fillStyle = colour;
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.fill();
}

/** Seen, but without a number. */
function hatch(context: CanvasRenderingContext2D, x: number, y: number, side: number, colour: string): void {
  context.save();
  context.beginPath();
  context.rect(x, y, side, side);
  context.clip();
  context.strokeStyle = colour;
  context.lineWidth = 1;
  context.beginPath();
  for (let from = -side; from < side; from += 5) {
    context.moveTo(x + from, y + side);
    context.lineTo(x + from + side, y);
  }
  context.stroke();
  context.restore();
}

function drawLabels(context: CanvasRenderingContext2D, layout: Layout, { scene, inks, focus }: Frame): void {
  const at = focus >= 0 ? placeOf(scene, focus) : null;
  const { cell: size, left, top } = layout;
  const side = size - layout.gap;
  context.font = `${layout.letters}px ${inks.font}`;
  context.textBaseline = "middle";
  context.textAlign = "right";
  layout.rowLabels.forEach((name, row) => {
    if (row % layout.every) return;
    context.fillStyle = at?.[0] === row ? inks.ink : inks.soft;
    context.fillText(name, left - 6, top + row * size + side / 2 + 0.5);
  });
  layout.columnLabels.forEach((name, column) => {
    if (column % layout.every) return;
    context.fillStyle = at?.[1] === column ? inks.ink : inks.soft;
    const x = left + column * size + side / 2;
    if (!layout.turned) {
      context.textAlign = "center";
      context.fillText(name, x, top - 9);
      return;
    }
    context.save();
    context.translate(x, top - 5);
    context.rotate(-Math.PI / 2);
    context.textAlign = "left";
    context.fillText(name, 0, 0.5);
    context.restore();
  });
}

function drawFocus(context: CanvasRenderingContext2D, layout: Layout, { scene, focus, inks }: Frame): void {
  const place = focus >= 0 ? placeOf(scene, focus) : null;
  if (!place) return;
  const { cell: size, gap } = layout;
  const [x, y] = [layout.left + place[1] * size, layout.top + place[0] * size];
  const side = size - gap;
  context.strokeStyle = inks.paper;
  context.lineWidth = 1.5;
  context.strokeRect(x + 0.75, y + 0.75, side - 1.5, side - 1.5);
  context.strokeStyle = inks.ink;
  context.lineWidth = 2;
  context.strokeRect(x - 1, y - 1, side + 2, side + 2);
}

/** The certificate: signed cells, and of two factors the closed path they lie on. */
function drawProof(context: CanvasRenderingContext2D, layout: Layout, frame: Frame, kind: PictureKind): void {
  const { proof, scene, inks } = frame;
  if (!proof) return;
  const side = layout.cell - layout.gap;
  const centre = (cell: number): [number, number] | null => {
    const place = placeOf(scene, cell);
    return place && [layout.left + place[1] * layout.cell + side / 2, layout.top + place[0] * layout.cell + side / 2];
  };
  if (kind === "follows" && proof.path.length) {
    const points = [proof.cell, ...proof.path, proof.cell].map(centre);
    // The path ends at the edge of its cell, whose number stays free.
    for (const [end, next] of [[0, 1], [points.length - 1, points.length - 2]] as const) {
      const [from, to] = [points[end], points[next]];
      if (from && to) points[end] = [from[0] + Math.sign(to[0] - from[0]) * (side / 2), from[1] + Math.sign(to[1] - from[1]) * (side / 2)];
    }
    context.lineJoin = "round";
    for (const [colour, width] of [
      [inks.paper, 4.5],
      [inks.ink, 1.8],
    ] as const) {
      context.strokeStyle = colour;
      context.lineWidth = width;
      context.beginPath();
      points.forEach((point, step) => point && (step ? context.lineTo(...point) : context.moveTo(...point)));
      context.stroke();
    }
  }
  const radius = Math.min(11, Math.max(4, side * 0.34));
  for (const term of proof.terms) {
    const point = centre(term.cell);
    if (!point) continue;
    const plus = term.numerator > 0;
    dot(context, ...point, radius + 1.5, inks.paper);
    dot(context, ...point, radius, plus ? inks.ink : inks.paper);
    context.strokeStyle = inks.ink;
    context.lineWidth = 1.5;
    context.beginPath();
    context.arc(...point, radius - 0.5, 0, 2 * Math.PI);
    context.stroke();
    context.strokeStyle = plus ? inks.paper : inks.ink;
    context.lineWidth = Math.max(1.3, radius * 0.2);
    context.beginPath();
    context.moveTo(point[0] - radius * 0.5, point[1]);
    context.lineTo(point[0] + radius * 0.5, point[1]);
    if (plus) {
      context.moveTo(point[0], point[1] - radius * 0.5);
      context.lineTo(point[0], point[1] + radius * 0.5);
    }
    context.stroke();
  }
}

function drawSuggestions(context: CanvasRenderingContext2D, layout: Layout, { scene, suggestions, inks }: Frame): void {
  suggestions.forEach(({ cell }, order) => {
    const place = placeOf(scene, cell);
    if (!place) return;
    const side = layout.cell - layout.gap;
    const [x, y] = [layout.left + place[1] * layout.cell, layout.top + place[0] * layout.cell];
    context.strokeStyle = inks.accent;
    context.lineWidth = 2.5;
    context.strokeRect(x + 0.5, y + 0.5, side - 1, side - 1);
    if (side < 14) return;
    const radius = Math.min(9, side * 0.3);
    dot(context, x + side / 2, y + side / 2, radius, inks.accent);
    context.fillStyle = inks.paper;
    context.font = `600 ${radius * 1.35}px ${inks.font}`;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.fillText(String(order + 1), x + side / 2, y + side / 2 + 0.5);
  });
}

/** Draw the verdicts of one slice as a picture of a few pixels per cell. */
export function drawThumbnail(canvas: HTMLCanvasElement, scene: Scene, verdicts: Uint8Array, slice: readonly number[], inks: Inks): void {
  const sizes = sizesOf(scene);
  const [rows, columns] = [sizes[scene.rows]!, sizes[scene.columns]!];
  const dotSize = Math.max(1, Math.floor(72 / Math.max(rows, columns)));
  [canvas.width, canvas.height] = [columns * dotSize, rows * dotSize];
  const context = canvas.getContext("2d");
  if (!context) return;
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const verdict = verdicts[cellAt(scene, row, column, slice)] as VerdictCode;
      context.fillStyle = verdict === Verdict.SEEN ? inks.rule : verdict === Verdict.UNSEEN_LEVEL ? inks.unseen : LOOKS[verdict]!.colour;
      context.fillRect(column * dotSize, row * dotSize, dotSize - +(dotSize > 3), dotSize - +(dotSize > 3));
    }
  }
}
