/** Questions to the program that serves the page. Every one carries the page's key; answers are kept. */

import * as phrases from "../generated/served.json";

export interface VerdictRecord {
  readonly word: string;
  readonly symbol: string;
  readonly colour: string;
  readonly meaning: string;
  readonly count: string;
  readonly none: boolean;
}

/** The table as the page starts with it; see answers.py. */
export interface TableRecord {
  readonly source: string;
  /** The command that repeats the run, and how a table is read that is dropped on the page; empty where there is none. */
  readonly command: string;
  readonly dropped: string;
  readonly factors: readonly { readonly name: string; readonly levels: number }[];
  readonly outcome: string | null;
  readonly assumption: string;
  /** Rows in words, and the measurements behind them. */
  readonly rows: string;
  readonly cells: string;
  readonly verdicts: readonly VerdictRecord[];
  readonly sampled: number;
  readonly answer: readonly string[];
  readonly findings: readonly { readonly code: string; readonly title: string; readonly severity: string; readonly message: string }[];
  readonly left_out: readonly string[];
  readonly next: { readonly text: string; readonly cells: readonly NextCell[] };
  readonly start: { readonly sides: readonly [number, number]; readonly at: readonly number[] };
  /** What the order of levels by their names is called. */
  readonly by_name: string;
  /** The table as the brush takes it, as in a link; null where it is not painted on. */
  readonly scene: string | null;
  readonly unpainted: string;
}

/** A cell by the numbers and names of its levels; `text` where columns were taken apart: a set or a sequence. */
export interface NamedCell {
  readonly cell: readonly number[];
  readonly labels: readonly string[];
  readonly text?: string;
}

export interface NextCell extends NamedCell {
  readonly gain: string;
}

export interface WindowRecord {
  readonly first: readonly [number, number];
  /** Level numbers and names down and across. */
  readonly levels: readonly [readonly number[], readonly number[]];
  readonly labels: readonly [readonly string[], readonly string[]];
  /** One digit per cell, row by row. */
  readonly codes: string;
}

export interface BinsRecord {
  readonly shape: readonly [number, number];
  readonly leading: string;
  readonly seen: string;
}

export interface LevelRecord {
  readonly level: number;
  readonly label: string;
}

export interface CellRecord extends NamedCell {
  readonly code: number;
  readonly word: string;
  readonly sentence: string;
  readonly lines?: readonly string[];
  readonly facts?: readonly (readonly [string, string])[];
}

export interface TermRecord extends NamedCell {
  readonly sign: string;
  readonly weight: string;
  readonly observed?: string;
}

export interface ProofRecord {
  readonly terms: readonly TermRecord[];
  readonly further: number;
  readonly lines: readonly string[];
}

export type Words = Readonly<Record<string, string | readonly number[]>>;

/** Answers that are kept. */
const KEPT = 400;

/** Return a question's address, lists of numbers separated by commas. */
export function addressOf(path: string, words: Words): string {
  const parts = new URLSearchParams();
  for (const [name, value] of Object.entries(words)) parts.set(name, typeof value === "string" ? value : value.join(","));
  return `${path}?${parts.toString()}`;
}

export class Asking {
  private readonly kept = new Map<string, Promise<unknown>>();

  constructor(private readonly key: string) {}

  ask<T>(path: string, words: Words): Promise<T> {
    const address = addressOf(path, words);
    const before = this.kept.get(address);
    if (before) return before as Promise<T>;
    const answer = fetchRecord(address, this.key);
    this.kept.set(address, answer);
    // What failed may work the next time.
    answer.catch(() => this.kept.delete(address));
    if (this.kept.size > KEPT) this.kept.delete(this.kept.keys().next().value!);
    return answer as Promise<T>;
  }
}

async function fetchRecord(address: string, key: string): Promise<unknown> {
  let response: Response;
  try {
    response = await fetch(address, { cache: "no-store", credentials: "same-origin", headers: { "x-recombine-key": key }, referrerPolicy: "no-referrer" });
  } catch {
    throw new Error(phrases.ended);
  }
  const text = await response.text();
  if (response.ok) return JSON.parse(text) as unknown;
  throw new Error(problemOf(text));
}

function problemOf(text: string): string {
  try {
    return (JSON.parse(text) as { error: string }).error;
  } catch {
    return text.trim();
  }
}
