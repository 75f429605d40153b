/** Three small tables of recorded facts. An empty entry is a cell without a record. */

import { makeScene, type Factor, type Scene, truthOf } from "./scene.ts";

function tableScene(factors: readonly Factor[], numbers: string, unit: string, parts: Partial<Scene> = {}): Scene {
  const table = Float64Array.from(numbers.split(/[\s]+/), (text) => (text === "." ? NaN : Number(text)));
  const seen = Uint8Array.from(table, (value) => +Number.isFinite(value));
  return makeScene(factors, { seen, truth: truthOf("table", { table, unit }), ...parts });
}

/** Means over the three airports of the bundled flights table, cells with two flights or more. */
export function flights(): Scene {
  const carriers = "9E AA B6 DL EV MQ UA US".split(" ");
  const airports = "ATL BOS CLT DCA DFW DTW FLL LAX MCO MIA ORD RDU SFO TPA".split(" ");
  const whole = tableScene(
    [
      { name: "carrier", levels: carriers },
      { name: "destination", levels: airports },
    ],
    `129 39 87 45 199 86 . . . . 122 71 . .
. 39 . . 198 . 162 328 138 153 117 . 349 149
. 40 89 . . . 150 328 134 . 122 72 347 144
112 38 . . . 85 154 328 135 153 . . 348 144
115 39 86 43 . 86 . . . . . 70 . .
115 . 85 49 . 86 . . . . 111 71 . 144
112 41 . . 198 . 152 328 135 152 114 . 345 144
. 38 86 45 . . . . . . . . . .`,
    "minutes in the air",
  );
  const hidden = HIDDEN_FLIGHTS.map(([carrier, airport]) => carriers.indexOf(carrier) * airports.length + airports.indexOf(airport));
  return { ...whole, seen: whole.seen.map((one, cell) => (hidden.includes(cell) ? 0 : one)) };
}

/** Recorded, but hidden to begin with, so that predictions of them can be judged. */
const HIDDEN_FLIGHTS = [
  ["9E", "DFW"],
  ["AA", "MIA"],
  ["B6", "LAX"],
  ["DL", "SFO"],
  ["MQ", "ATL"],
  ["UA", "BOS"],
] as const;

export function barley(): Scene {
  const varieties = "Glabron,Manchuria,No. 457,No. 462,No. 475,Peatland,Svansota,Trebi,Velvet,Wisconsin No. 38".split(",");
  const sites = "Crookston,Duluth,Grand Rapids,Morris,University Farm,Waseca".split(",");
  const whole = tableScene(
    [
      { name: "year", levels: ["1931", "1932"] },
      { name: "variety", levels: varieties },
      { name: "site", levels: sites },
    ],
    `38.1 29.7 29.1 28.8 43.1 55.2 39.9 29.0 33.0 27.4 27.0 48.9 45.7 33.6 32.2 28.7 43.3 58.1 48.6 28.1 24.9 30.4 36.6 65.8
44.1 33.1 19.7 22.6 24.7 46.8 41.6 32.0 34.7 29.9 32.8 48.6 40.5 25.7 29.7 25.8 35.1 47.3 46.9 33.9 29.8 43.8 36.6 63.8
41.3 26.3 23.0 26.1 39.9 50.2 49.9 31.6 34.5 29.5 39.3 58.8
26.2 25.9 14.4 35.1 36.8 37.7 33.0 22.6 22.1 34.4 26.9 33.5 34.3 22.7 19.5 43.5 26.4 42.2 30.5 22.5 19.9 47.0 25.6 44.7
32.1 27.4 15.2 44.2 30.0 41.3 25.2 31.4 26.8 43.2 28.1 36.0 20.6 22.2 16.6 35.0 27.4 38.5 41.8 30.6 20.6 46.6 29.1 49.2
32.1 22.5 32.2 38.8 26.8 37.4 35.9 29.3 20.7 47.2 38.0 58.2`,
    "bushels per acre",
    { order: 2 },
  );
  const hidden = (cell: number): boolean => cell >= 60 && Math.floor(cell / 6) % 10 < 4 && cell % 6 >= 3;
  return { ...whole, seen: whole.seen.map((one, cell) => (hidden(cell) ? 0 : one)) };
}

export function titanic(): Scene {
  // Saved and lost of each class, by age and sex.
  const saved = [5, 11, 13, 0, 1, 13, 14, 0, 57, 14, 75, 192, 140, 80, 76, 20];
  const lost = [0, 0, 35, 0, 0, 0, 17, 0, 118, 154, 387, 670, 4, 13, 89, 3];
  const shares = saved.map((count, at) => {
    const all = count + lost[at]!;
    return all ? String(Math.round((1000 * count) / all) / 10) : ".";
  });
  return tableScene(
    [
      { name: "age", levels: ["child", "adult"] },
      { name: "sex", levels: ["male", "female"] },
      { name: "class", levels: ["1st", "2nd", "3rd", "crew"] },
    ],
    shares.join(" "),
    "per cent saved",
  );
}
