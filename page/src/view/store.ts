/** The one place that changes: the scene of now, its history, and what is derived from it, worked out when asked for. */

import { type Certificate, type Suggestion, TooLarge } from "../engine/index.ts";
import { errorsOf, type Errors, follow, type Following, type Forecast, foresee, nextCells, proofOf, variancesOf } from "./analysis.ts";
import { begin, type History, look, redo, step, undo } from "./history.ts";
import { obey } from "./puzzle.ts";
import type { Scene } from "./scene.ts";
import { readTruth, type TruthTable } from "./truths.ts";

export class Store {
  private history: History;
  private readonly listeners: (() => void)[] = [];
  private known: { scene: Scene; following: Following } | null = null;
  private foreseen: { scene: Scene; following: Following; forecast: Forecast; errors: Errors[] } | null = null;
  private spreads: { following: Following; variances: Float64Array | null } | null = null;
  private proven: { following: Following; cell: number; proof: Certificate | null } | null = null;
  private proposed: { following: Following; cells: Suggestion[] } | null = null;
  private truths: TruthTable | null = null;

  /** `refuse` hears why a scene was not taken. */
  constructor(
    scene: Scene,
    private readonly refuse: (reason: string) => void = () => undefined,
  ) {
    this.history = begin(scene);
  }

  get scene(): Scene {
    return this.history.now;
  }

  get canUndo(): boolean {
    return this.history.past.length > 0;
  }

  get canRedo(): boolean {
    return this.history.future.length > 0;
  }

  listen(listener: () => void): void {
    this.listeners.push(listener);
  }

  /** Take a step that can be undone; steps of one tag are undone together. */
  commit(scene: Scene, tag = ""): void {
    const next = obey(this.scene, scene);
    if (next) this.move(step(this.history, next, tag));
    else this.refuse("Three squares are all there are: erase one of yours first.");
  }

  /** Look elsewhere, without a step. */
  view(parts: Partial<Pick<Scene, "focus" | "slice" | "rows" | "columns" | "show">>): void {
    this.move(look(this.history, { ...this.scene, ...parts }));
  }

  undo(): void {
    this.move(this.counted(undo(this.history)));
  }

  redo(): void {
    this.move(this.counted(redo(this.history)));
  }

  /** Tries at a puzzle stay counted. */
  private counted(history: History): History {
    const { puzzle, tries } = this.scene;
    const { now } = history;
    return now.puzzle && now.puzzle === puzzle && now.tries !== tries ? look(history, { ...now, tries }) : history;
  }

  private move(history: History): void {
    if (history === this.history) return;
    const before = this.history;
    this.history = history;
    try {
      void this.following; // kept for the next frame
    } catch (error) {
      this.history = before;
      if (!(error instanceof TooLarge)) throw error;
      this.refuse(error.message);
    }
    for (const listener of this.listeners) listener();
  }

  /** What follows from the scene of now. */
  get following(): Following {
    const { scene, known } = this;
    if (known && sameQuestion(known.scene, scene)) return known.following;
    this.truths = readTruth(scene, this.truths);
    this.known = { scene, following: follow(scene, this.truths) };
    return this.known.following;
  }

  /** What the network says; worked out anew only if `now`, else the last answer to this question or none. */
  forecast(now: boolean): { forecast: Forecast; errors: Errors[]; fresh: boolean } | null {
    const { scene, following, foreseen } = this;
    const fresh = Boolean(foreseen && foreseen.following === following && foreseen.scene.kernel === scene.kernel && foreseen.scene.depth === scene.depth);
    if (fresh || (!now && foreseen && foreseen.following.found.seen.length === following.found.seen.length)) return { ...foreseen!, fresh };
    if (!now) return null;
    const forecast = foresee(scene, following);
    this.foreseen = { scene, following, forecast, errors: errorsOf(following, forecast.predictions) };
    return { ...this.foreseen, fresh: true };
  }

  /** Variances of the values that follow; undefined if they are not known yet and not to be worked out `now`. */
  variances(now: boolean): Float64Array | null | undefined {
    const { following } = this;
    if (this.spreads?.following === following) return this.spreads.variances;
    if (!now) return undefined;
    this.spreads = { following, variances: variancesOf(following) };
    return this.spreads.variances;
  }

  proof(cell: number): Certificate | null {
    const { following } = this;
    if (cell < 0) return null;
    if (this.proven?.following !== following || this.proven.cell !== cell) this.proven = { following, cell, proof: proofOf(following, cell) };
    return this.proven.proof;
  }

  get next(): Suggestion[] {
    const { following } = this;
    if (this.proposed?.following !== following) this.proposed = { following, cells: nextCells(following, 3) };
    return this.proposed.cells;
  }
}

/** Whether two scenes ask the same question of the engine: how one looks at it does not matter. */
function sameQuestion(one: Scene, two: Scene): boolean {
  return one.seen === two.seen && one.truth === two.truth && one.factors === two.factors && one.order === two.order && one.noise === two.noise;
}
