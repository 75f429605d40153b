/** The puzzle's box: what to do, how it stands, and the way to the next one. */

import { button, byId, make } from "./elements.ts";
import { openPreset, PRESETS } from "./presets.ts";
import { isSolved, isVeiled, MOVES, playedIn, PUZZLES, puzzleScene } from "./puzzle.ts";
import type { Store } from "./store.ts";

/** Return what shows the puzzle of the scene, if it is one. */
export function startPuzzles(store: Store): () => void {
  const box = byId("guide");
  const { classList } = document.body;
  let shown = "";
  const next = (): void => store.commit(puzzleScene((store.scene.puzzle % PUZZLES) + 1));
  byId("puzzle").addEventListener("click", () => {
    next();
    window.scrollTo(0, 0);
  });

  const status = (): string => {
    const { scene, following } = store;
    const { tries } = scene;
    const left = MOVES - playedIn(scene).length;
    const open = following.found.verdicts.filter((verdict) => verdict > 1).length;
    if (!left && isSolved(following)) return `✓ Solved ${tries > 1 ? `at try ${tries}` : "at the first try"}: every square follows.`;
    const so = tries ? ` Tries so far: ${tries}.` : "";
    return left ? `${left} ${left > 1 ? "squares" : "square"} to paint.${so}` : `Not yet: ${open} squares stay open (✕). Erase one of yours and paint another.${so}`;
  };

  return () => {
    const { scene, following } = store;
    const veiled = isVeiled(scene);
    classList.toggle("puzzling", scene.puzzle > 0);
    classList.toggle("veiled", veiled);
    const told = scene.puzzle ? `${scene.puzzle} ${status()}` : "";
    if (told === shown) return;
    shown = told;
    box.hidden = !scene.puzzle && !classList.contains("touring");
    if (!scene.puzzle) return;
    const held = box.contains(document.activeElement) || document.activeElement === byId("puzzle");
    const solved = !veiled && isSolved(following);
    const line = make("p", solved ? "done" : "", status());
    line.setAttribute("role", "status");
    const bar = make("div", "bar", button("Next puzzle", next, solved ? "lead" : ""));
    if (solved) bar.append(button("Copy link to share", () => byId("copy").click()));
    if (playedIn(scene).length) bar.append(button(solved ? "Play it again" : "Start over", () => store.commit({ ...puzzleScene(scene.puzzle), tries: solved ? 0 : scene.tries })));
    bar.append(
      button("Leave", () => {
        store.commit(openPreset(PRESETS[0]!));
        byId("puzzle").focus();
      }),
    );
    const title = make("h2", "", make("b", "", `Puzzle ${scene.puzzle} of ${PUZZLES}`), "Settle this grid with three squares");
    title.tabIndex = -1;
    box.replaceChildren(
      title,
      make("p", "", "Every square is the sum of a row effect and a column effect. Paint three, so that all others follow from the painted ones. You see it once the third is painted."),
      line,
      bar,
    );
    if (held) title.focus(); // the button that was pressed is gone
  };
}
