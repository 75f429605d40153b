/** The painting behind the # of a served page's link. Values that a long table leaves out of it are put back. */

/** Behind the # while the table's own cells are shown to the brush and none was painted yet. */
export const UNTOUCHED = "#paint";

/** Return the scene that the brush opens with for a link's hash; null where it holds none, but a look or nothing. */
export function sceneAsked(hash: string, table: string): string | null {
  if (hash === UNTOUCHED) return table;
  const [asked, own] = [new URLSearchParams(hash.replace(/^#/, "")), new URLSearchParams(table)];
  if (!["p", "s", "f", "z"].some((name) => asked.has(name))) return null;
  const same = !asked.has("p") && ["s", "f"].every((name) => asked.get(name) === own.get(name));
  if (!same || asked.get("t") !== "table" || asked.has("v")) return hash.replace(/^#/, "");
  for (const name of ["v", "u"]) if (own.has(name)) asked.set(name, own.get(name)!);
  return asked.toString();
}
