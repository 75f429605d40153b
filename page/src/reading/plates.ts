/** Plates: wells in rows A, B, ... and columns 1, 2, ... become rows of a table. */

import { filled, type Grid, isBlank, lineOf, MOST_NAMED } from "./grid.ts";
import { LAID, type Laid, linesNote, noted } from "./layout.ts";
import { strip } from "./texts.ts";

/** Rows and columns of plates of 6 to 1,536 wells. */
const SIZES = ["2 3", "4 6", "8 12", "16 24", "32 48"];
/** Rows above the first plate, at most; those of them that hold more cells than settings do, at most; cells of settings. */
const MOST_NAME_ROWS = 60;
const MOST_LONG_ROWS = 2;
const MOST_SETTING_CELLS = 3;
const LETTERS = Array.from({ length: 32 }, (_, place) => (place < 26 ? "" : "A") + String.fromCharCode(65 + (place % 26)));

interface Plate {
  readonly name: string;
  readonly top: number;
  readonly height: number;
  readonly width: number;
}

/** Return plates as plate, row, column and value; null where there is more than plates, names and settings. */
export function readPlates(grid: Grid): Laid | null {
  if (!grid.rows.slice(0, MOST_NAME_ROWS).some((row) => row.slice(1, 4).map(strip).join() === "1,2,3")) return null;
  const rows = filled(grid).map((row) => row.map(strip));
  const plates: Plate[] = [];
  const texts = (index: number): string[] => rows[index]!.filter(Boolean);
  let [above, waiting]: [number[], number[]] = [[], []];
  for (let index = 0; index < rows.length; index++) {
    const size = sizeOf(rows, index);
    if (size) {
      const named = waiting.slice(-1).filter((row) => texts(row).length === 1);
      const others = waiting.slice(0, waiting.length - named.length);
      if (plates.length && others.length) return null;
      if (!plates.length) above = others;
      waiting = [];
      plates.push({ name: named.map((row) => texts(row)[0]!)[0] ?? rows[index]![0]!, top: index, height: size[0], width: size[1] });
      index += size[0];
    } else if (!isBlank(rows[index]!)) waiting.push(index);
  }
  const table = above.filter((row) => texts(row).length > MOST_SETTING_CELLS).length > MOST_LONG_ROWS;
  if (!plates.length || table || waiting.some((row) => texts(row).length > 2)) return null;
  const sheet = wellsOf(grid, rows, plates);
  return { ...sheet, notes: [...sheet.notes, ...noted(linesNote("title", grid, rows, above), linesNote("footer", grid, rows, waiting))] };
}

/** Rows and columns of the plate whose column numbers stand in a row; null where there is no plate. */
function sizeOf(rows: readonly (readonly string[])[], top: number): [number, number] | null {
  const numbers = rows[top]!.slice(1);
  while (numbers.length && !numbers.at(-1)) numbers.pop();
  if (!numbers.every((text, place) => text === String(place + 1))) return null;
  let count = 0;
  while (count < LETTERS.length && rows[top + count + 1]?.[0]?.toUpperCase() === LETTERS[count]) count++;
  const beside = rows.slice(top, top + count + 1).some((row) => row.slice(numbers.length + 1).some(Boolean));
  return SIZES.includes(`${count} ${numbers.length}`) && !beside ? [count, numbers.length] : null;
}

function wellsOf(grid: Grid, rows: readonly (readonly string[])[], plates: readonly Plate[]): Laid {
  const several = plates.length > 1;
  const [wells, lines]: [string[][], number[]] = [[], []];
  plates.forEach(({ name, top, height, width }, place) => {
    for (let row = 0; row < height; row++) {
      for (let column = 0; column < width; column++) {
        const value = rows[top + 1 + row]![column + 1];
        if (!value) continue;
        wells.push([...(several ? [name || String(place + 1)] : []), LETTERS[row]!, String(column + 1), value]);
        lines.push(lineOf(grid, top + 1 + row));
      }
    }
  });
  const factors = [...(several ? ["plate"] : []), "row", "column"];
  const values = plates.map(({ name }) => name).filter(Boolean).slice(0, MOST_NAMED);
  return { ...LAID, names: [...factors, "value"], rows: wells, lines, notes: [{ kind: "plate", values, count: plates.length }], above: [...factors, ""].map(() => ""), factors, outcome: "value" };
}
