/** The page comes alive: one store, three pictures, everything else beside them. */

import { Verdict, VERDICT_WORDS } from "../engine/index.ts";
import { followPointer, holdBrush, holdKeys } from "./brush.ts";
import { showControls, wireControls } from "./controls.ts";
import { wireDrop } from "./drop.ts";
import { byId, toast, write } from "./elements.ts";
import { type Layout, layOut } from "./layout.ts";
import { packScene, unpackScene } from "./link.ts";
import { readInks } from "./looks.ts";
import { drawPicture, type Frame, type PictureKind } from "./picture.ts";
import { startPuzzles } from "./play.ts";
import { openPreset, PRESETS } from "./presets.ts";
import { isVeiled, playedIn } from "./puzzle.ts";
import { showAccount, showErrors, showLegend, showMiss, showNext, showScale, showSlopes } from "./readout.ts";
import { paint, type Scene } from "./scene.ts";
import { showSlices } from "./slices.ts";
import { Store } from "./store.ts";
import { startTour } from "./tour.ts";
import { accountOf, hintOf, nameOf, spoken } from "./words.ts";

const KINDS: readonly PictureKind[] = ["seen", "follows", "network"];
/** Work of one frame, in milliseconds, beyond which the network waits until the brush pauses. */
const BUDGET = 7;
const PAUSE = 120;

/** Open the scene of the link; the first preset where there is none, or none that can be shown. */
function openStore(link: string): Store {
  const usual = new Store(openPreset(PRESETS[0]!), toast);
  if (link.length < 2) return usual;
  try {
    const store = new Store(unpackScene(link), toast);
    void store.following;
    return store;
  } catch (error) {
    window.setTimeout(() => refuseLink(error, usual, `. ${PRESETS[0]!.title} is shown instead`));
    return usual;
  }
}

/** Say that a link is none of a scene, and put the one that is shown in its place. */
function refuseLink(error: unknown, { scene }: Store, instead = ""): void {
  // A place of the page, such as that of "To the grid", is no link to a scene.
  const place = document.getElementById(location.hash.slice(1));
  if (!place) toast(`This link could not be read: ${error instanceof Error ? error.message : String(error)}${instead}.`, true);
  history.replaceState(null, "", `#${packScene(scene)}`);
}

/** Open the page with the scene of a link: that of the address, unless another is given. */
export function openPage(link = location.hash): void {
  const store = openStore(link);
  const canvases = KINDS.map((kind) => byId<HTMLCanvasElement>(kind));
  const layouts: (Layout | null)[] = [null, null, null];
  const tour = startTour(store);
  const showPuzzle = startPuzzles(store);
  const touch = window.matchMedia("(pointer: coarse)").matches;
  let inks = readInks(document.documentElement);
  let collecting = false;
  let waiting = 0;
  let linkTimer = 0;
  let cost = Infinity; // milliseconds of the last forecast
  let drawn: Scene | null = null;

  const measureText = (() => {
    const context = document.createElement("canvas").getContext("2d");
    return (text: string): number => {
      if (!context) return text.length * 7;
      context.font = `12px ${inks.font}`;
      return context.measureText(text).width;
    };
  })();

  const layAll = (): void => {
    canvases.forEach((canvas, at) => {
      layouts[at] = layOut(store.scene, Math.floor(canvas.clientWidth), 470, measureText);
    });
  };

  const render = (settled: boolean): void => {
    const { scene, following } = store;
    const known = store.forecast(settled || cost < BUDGET);
    const veiled = isVeiled(scene);
    const invited = invitation(store);
    const frame: Frame = {
      scene,
      following,
      predictions: known?.forecast.predictions ?? null,
      proof: veiled ? null : store.proof(scene.focus),
      suggestions: collecting && !veiled ? store.next : [],
      marked: scene.puzzle ? playedIn(scene) : invited,
      focus: scene.focus,
      inks,
    };
    canvases.forEach((canvas, at) => drawPicture(canvas, layouts[at]!, frame, veiled ? "seen" : KINDS[at]!));
    if (drawn?.seen !== scene.seen || drawn.order !== scene.order) showLegend(scene, following);
    if (drawn?.truth !== scene.truth || drawn.factors !== scene.factors) showScale(scene, following);
    const variances = scene.focus < 0 ? null : store.variances(settled || cost < BUDGET);
    const account = scene.focus < 0 || veiled ? null : accountOf(scene, following, frame.predictions, variances ?? null, frame.proof, scene.focus);
    showAccount(account, hintOf(scene, following));
    // What was read out is of another cell, or of another grid.
    if (scene.focus < 0 || drawn?.factors !== scene.factors) write(byId("live"), "");
    if (known?.fresh) {
      showErrors(scene, known.errors);
      showSlopes(scene, known.forecast, following.limits);
      showMiss(scene, known.errors, following, inks);
    }
    showNext(scene, collecting && !veiled ? frame.suggestions : null, (cell) => store.commit({ ...paint(store.scene, [cell], true), focus: cell }));
    showControls(store, collecting);
    canvases[1]!.setAttribute("aria-label", veiled ? "What follows is shown once three squares are painted" : `What follows: ${VERDICT_WORDS.map((word, verdict) => `${following.found.counts[verdict]} ${word}`).join(", ")}`);
    write(byId("brushline"), invited.length ? `${touch ? "Tap" : "Click or drag"}. Try the dashed square.` : touch ? "Tap to paint or erase." : "Drag to paint, click to erase.");
    showSlices(store, inks);
    drawn = scene;
    if ((!known?.fresh || variances === undefined) && !settled) {
      window.clearTimeout(waiting);
      waiting = window.setTimeout(settle, cost === Infinity ? 0 : PAUSE);
    }
  };

  /** Work out what takes longer, and take note of how long. */
  const settle = (): void => {
    window.clearTimeout(waiting);
    const before = performance.now();
    store.forecast(true);
    if (store.scene.focus >= 0) store.variances(true);
    cost = performance.now() - before;
    render(true);
  };

  let pending = false;
  const changed = (): void => {
    if (pending) return;
    pending = true;
    requestAnimationFrame(() => {
      pending = false;
      if (drawn?.factors !== store.scene.factors || drawn.rows !== store.scene.rows || drawn.columns !== store.scene.columns) layAll();
      tour.check();
      showPuzzle();
      render(false);
    });
    window.clearTimeout(linkTimer);
    linkTimer = window.setTimeout(() => keepLink(packScene(store.scene)), 300);
  };

  store.listen(changed);
  const layoutAt = (at: number) => (): Layout | null => layouts[at] ?? null;
  holdBrush(canvases[0]!, store, layoutAt(0));
  followPointer(canvases[1]!, store, layoutAt(1));
  followPointer(canvases[2]!, store, layoutAt(2));
  holdKeys(canvases[0]!, store, () => {
    const { scene, following } = store;
    if (scene.focus < 0) return;
    if (isVeiled(scene)) write(byId("live"), `${nameOf(scene, scene.focus)}: ${scene.seen[scene.focus] ? "painted" : "not painted"}`);
    else write(byId("live"), spoken(accountOf(scene, following, store.forecast(false)?.forecast.predictions ?? null, null, store.proof(scene.focus), scene.focus)));
  });
  wireControls(store, () => {
    collecting = !collecting;
    changed();
  });
  wireDrop(store);
  byId("tour").addEventListener("click", () => tour.open());

  const resized = (): void => {
    layAll();
    render(false);
  };
  // The pictures may have no box of their own; what is said below them changes the height only.
  new ResizeObserver(() => {
    if (canvases.some((canvas, at) => Math.floor(canvas.clientWidth) !== layouts[at]?.width)) resized();
  }).observe(byId("pictures").parentElement!);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    inks = readInks(document.documentElement);
    drawn = null;
    resized();
  });
  window.addEventListener("hashchange", () => {
    if (location.hash.slice(1) === packScene(store.scene)) return;
    try {
      store.commit(unpackScene(location.hash));
    } catch (error) {
      refuseLink(error, store);
    }
  });
  showPuzzle();
  layAll();
  render(false); // verdicts first; the network follows a moment later
  // Milliseconds from opening to the first verdict, for whoever measures it.
  document.documentElement.dataset["firstVerdict"] = String(Math.round(performance.now()));
}

/** Keep the scene in the address; in a notebook the widget that made the frame is told of it, and nobody else ever is. */
function keepLink(scene: string): void {
  history.replaceState(null, "", `#${scene}`);
  if (location.protocol === "blob:" && window.parent !== window) window.parent.postMessage({ scene }, "*");
}

/** The square that the first screen asks to paint: the one that settles most; none once the reader has begun. */
function invitation(store: Store): number[] {
  const { scene } = store;
  const first = scene.preset === PRESETS[0]!.id && !store.canUndo && store.following.found.counts[Verdict.DISCONNECTED];
  return first ? store.next.slice(0, 1).map(({ cell }) => cell) : [];
}
