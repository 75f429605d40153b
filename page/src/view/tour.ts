/** The tour: five steps of a minute in all, each done by the reader. */

import { levelsOf, Verdict } from "../engine/index.ts";
import { button, byId, make } from "./elements.ts";
import { cellAt, makeScene, plainFactors, type Scene, truthOf } from "./scene.ts";
import type { Store } from "./store.ts";

interface Step {
  readonly title: string;
  readonly task: string;
  /** What has been shown once the task is done. */
  readonly shown: string;
  readonly scene: () => Scene;
  readonly done: (now: Pick<Store, "scene" | "following">) => boolean;
}

function grid(size: number, rule: (a: number, b: number) => boolean, parts: Partial<Scene> = {}): Scene {
  const empty = makeScene(plainFactors([size, size]), parts);
  return {
    ...empty,
    seen: empty.seen.map((_, cell) => {
      const [a, b] = levelsOf([size, size], cell);
      return +rule(a! + 1, b! + 1);
    }),
  };
}

const corners = (a: number, b: number): boolean => a === 2 && (b === 2 || b === 5);

export const STEPS: readonly Step[] = [
  {
    title: "A square completes itself",
    task: "Two corners of a square were seen. In the first picture, paint a third: row 5, column 2.",
    shown: "The fourth corner follows: the two next to it, minus the one across. Nobody had to measure it.",
    scene: () => grid(6, corners, { focus: -1 }),
    done: ({ scene, following }) => following.found.verdicts[cellAt(scene, 4, 4)] === Verdict.DETERMINED,
  },
  {
    title: "A bridge joins two islands",
    task: "Rows 1 to 4 were never seen with columns 5 to 8. Every ✕ is open: the data do not settle it. Paint one ✕.",
    shown: "One cell is a bridge: every other one follows through it. Point at a far cell to see its zig-zag.",
    scene: () => grid(8, (a, b) => (a < 5 && b < 5 && (a === 2 || b === 3)) || (a > 4 && b > 4 && (a === 6 || b === 7))),
    done: ({ following }) => !following.found.counts[Verdict.DISCONNECTED] && !following.found.counts[Verdict.UNSEEN_LEVEL],
  },
  {
    title: "Depth makes the network forget",
    task: "Here everything follows, and the second picture is complete. Now make the network deep: drag its slider to 15 layers or more.",
    shown: "The third picture washes out: a deep network stores whole combinations, which never reaches unseen ones.",
    scene: () => grid(9, (a, b) => a === 5 || b === 5, { depth: 1, kernel: "ntk" }),
    done: ({ scene }) => scene.depth >= 15,
  },
  {
    title: "A shortcut",
    task: "Only the column matters, but rows and columns went together. The network leans on the row. Take that away: click the numbers of two rows to paint them whole.",
    shown: "Once row and column come apart, the network's stripes turn upright. More of the same diagonal would not have helped.",
    scene: () => grid(9, (a, b) => Math.abs(a - b) < 2, { depth: 1, truth: truthOf("formula", { formula: "b" }) }),
    done: ({ scene }) => rowsFull(scene) >= 2,
  },
  {
    title: "Three cells that settle everything",
    task: "Four islands, most cells open. Press “Collect next” above the second picture and paint what it proposes.",
    shown: "Everything is settled, and three cells were enough. That is what to measure before asking any model.",
    scene: () => grid(12, (a, b) => Math.ceil(a / 3) === Math.ceil(b / 3) && (a % 3 === 1 || b % 3 === 1)),
    done: ({ following }) => !following.found.counts[Verdict.DISCONNECTED] && !following.found.counts[Verdict.UNSEEN_LEVEL],
  },
];

function rowsFull(scene: Scene): number {
  const size = scene.factors[1]!.levels.length;
  let full = 0;
  for (let from = 0; from < scene.seen.length; from += size) full += +scene.seen.subarray(from, from + size).every((one) => one === 1);
  return full;
}

/** Whether a scene is none that the step led to: painting and sliders keep its factors, another grid or table has its own. */
export function hasLeft(began: Scene, now: Scene): boolean {
  return now.factors !== began.factors;
}

export interface Tour {
  open(): void;
  /** See whether the step is done, or the reader has gone elsewhere. */
  check(): void;
}

export function startTour(store: Store): Tour {
  const box = byId("guide");
  let at = -1;
  let reached = false;
  let began: Scene | null = null;

  const close = (): void => {
    at = -1;
    box.hidden = true;
    document.body.classList.remove("touring");
  };

  const go = (step: number): void => {
    at = step;
    reached = false;
    began = STEPS[at]!.scene();
    store.commit(began);
    document.body.classList.add("touring");
    show();
    window.scrollTo(0, 0);
    box.querySelector<HTMLElement>("h2")?.focus();
  };

  const show = (): void => {
    const step = STEPS[at];
    box.hidden = !step;
    if (!step) return;
    const title = make("h2", "", make("b", "", `${at + 1} of ${STEPS.length}`), step.title);
    title.tabIndex = -1;
    const told = make("p", reached ? "done" : "", reached ? `✓ ${step.shown}` : step.task);
    told.setAttribute("role", "status");
    const bar = make("div", "bar");
    if (at) bar.append(button("Back", () => go(at - 1)));
    if (at < STEPS.length - 1) bar.append(button(reached ? "Next" : "Skip", () => go(at + 1), reached ? "lead" : ""));
    bar.append(
      button(at === STEPS.length - 1 && reached ? "Done" : "Leave the tour", () => {
        close();
        byId("tour").focus();
      }),
    );
    box.replaceChildren(title, told, bar);
  };

  return {
    open: () => go(0),
    check: () => {
      const step = STEPS[at];
      if (!step || !began) return;
      if (hasLeft(began, store.scene)) return close();
      if (reached || !step.done(store)) return;
      reached = true;
      show();
    },
  };
}
