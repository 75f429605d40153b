/** Which columns of a table may be factors, and which is its outcome, weight, spread or split: a guess by points. */

import { roles as RULES } from "../../../src/recombine/sheets/rules.json";
import { listed, matches, once, portable } from "./rules.ts";
import { counted, strip, sum } from "./texts.ts";

type Kind = keyof typeof RULES.words;
type Values = readonly (string | null)[];

const roleLimit = (name: keyof typeof RULES.limits): number => RULES.limits[name];
/** Rows of the first look, and values in all: a wide table is looked at by fewer rows. */
const [SAMPLED_ROWS, SAMPLED_VALUES] = [10_000, 2_000_000];
const wordsOf = once((kind) => new Set(RULES.words[kind as Kind]));
const pattern = once((name) => new RegExp(portable(RULES.patterns[name as keyof typeof RULES.patterns]), "gu"));

/** Whether nothing is known where a text stands. */
export const isMissing = (text: string): boolean => !text || listed("missing").includes(text);

export function isNumber(text: string): boolean {
  return matches("number", strip(text)) && Number.isFinite(Number(text));
}

/** What all of some texts could be read as: a number padded with zeros (007) is a label. */
export function kindOfTexts(texts: readonly string[]): "integer" | "number" | "date" | "text" {
  if (!texts.length) return "text";
  if (texts.every(isNumber) && !texts.some((text) => matches("padded", text))) return texts.every((text) => Number.isInteger(Number(text))) ? "integer" : "number";
  return texts.every((text) => matches("date_like", text)) ? "date" : "text";
}

/** Whether all values stand in about as many rows. */
function areAlike(counts: ReadonlyMap<string, number>, least = 1): boolean {
  const rows = [...counts.values()].sort((one, two) => one - two);
  return rows[0]! >= Math.max(least, rows.at(-1)! / roleLimit("rows of a value, most by least"));
}

/** A column by its name, profile and values, of which those that are missing are null. */
class Column {
  readonly words: readonly string[];
  readonly counts: ReadonlyMap<string, number>;
  readonly distinct: number;
  readonly missing: number;
  readonly kind: ReturnType<typeof kindOfTexts>;
  readonly numeric: boolean;
  readonly doubt: string;
  readonly measured: boolean;

  /** `known` are distinct values, missing ones and kind of all rows, where `values` are those of the first only. */
  constructor(readonly name: string, readonly values: Values, readonly rows: number, known?: Column) {
    this.words = name.replace(pattern("hump"), "$1 $2").toLowerCase().match(pattern("word")) ?? [];
    this.counts = counted(values.filter((value) => value !== null));
    this.distinct = known?.distinct ?? this.counts.size;
    this.missing = known?.missing ?? values.length - sum(this.counts.values());
    this.kind = known?.kind ?? kindOfTexts([...this.counts.keys()]);
    this.numeric = this.kind === "integer" || this.kind === "number";
    this.doubt = this.#doubt();
    this.measured = this.numeric && this.doubt !== "";
  }

  #doubt(): string {
    if (this.distinct < 2) return "constant";
    if (this.words.some((word) => wordsOf("notes").has(word))) return "notes";
    if (this.missing > roleLimit("missing share of a factor") * this.rows) return "sparse";
    if (this.kind === "date") return "date";
    const half = Math.max(2, this.rows / 2);
    if (this.numeric) {
      const summary = this.words.some((word) => wordsOf("summary").has(word)); // of what was measured
      const designed = (this.balanced && !summary) || (this.kind === "integer" && this.called("design"));
      return this.distinct <= Math.min((designed ? roleLimit("numbers of a design") : roleLimit("numbers of a factor")), half) ? "" : "measurement";
    }
    if (this.distinct > Math.min(half, Math.max(1_000, this.rows / 10), roleLimit("levels of a factor"))) return "identifier";
    const long = [...this.counts.keys()].filter((text) => (text.match(pattern("remark word")) ?? []).length >= roleLimit("words of a remark")).length;
    return 2 * long > this.counts.size && this.counts.size > roleLimit("remarks") ? "notes" : "";
  }

  /** Whether all values stand in about as many rows, two or more, as a design has them. */
  get balanced(): boolean {
    return areAlike(this.counts, 2);
  }

  get numbers(): number[] {
    return [...this.counts.keys()].map(Number).sort((one, two) => one - two);
  }

  get least(): number {
    return this.numbers[0] ?? -1;
  }

  /** Whether it says which one, not how much: an id, a subject, a running number. */
  get names(): boolean {
    const ends = new RegExp(`^(?:${pattern("names").source})$`).test(this.words.join(""));
    const running = this.kind === "integer" && this.distinct + this.missing >= this.rows && this.rows > 3;
    return ends || this.called("names") || (running && this.numbers.at(-1)! - this.least < this.distinct);
  }

  /** Whether it only rises or only falls from row to row, as times and ranks do. */
  get rises(): boolean {
    const numbers = this.values.filter((value) => value !== null).map(Number);
    return [1, -1].some((sign) => numbers.every((number, at) => !at || sign * (number - numbers[at - 1]!) >= 0));
  }

  /** Whether the name is one word of a kind; n1 is none of n. */
  called(kind: Kind): boolean {
    return wordsOf(kind).has(this.name.toLowerCase().replace(pattern("no letter"), ""));
  }

  /** Whether a word of the name is of a kind, singular or plural, or ends with a long one: weightgain. */
  says(kind: Kind): boolean {
    // Answers such as "strongly agree" are an outcome, whatever their column is called.
    if (kind === "outcome" && this.counts.size > 2 && [...this.counts.keys()].every((text) => new RegExp(`^(?:${RULES.patterns.answer})$`, "i").test(text))) return true;
    const parts = [...wordsOf(kind)].filter((word) => word.length >= roleLimit("letters of a part"));
    const forms = this.words.flatMap((word) => [word, word.replace(/s$/, "")]);
    return forms.some((form) => wordsOf(kind).has(form) || parts.some((part) => form.endsWith(part)));
  }
}

export interface Roles {
  readonly columns: Readonly<Record<string, string>>;
  /** What else may be the outcome, the likeliest first; an unclear one is nobody's. */
  readonly candidates: readonly string[];
}

/** Guess the split, weight, sd and outcome of a table. */
function guessRoles(columns: readonly Column[]): Roles {
  const found: Record<string, Column | undefined> = {
    split: columns.find(isSplit),
    weight: columns.find((item) => item.kind === "integer" && item.called("weight") && ![...item.counts.keys()].join("").includes("-")),
    sd: columns.find((item) => item.kind === "number" && item.called("sd")),
  };
  const left = columns.filter((item) => !Object.values(found).includes(item));
  const open = left.filter(mayBeOutcome);
  const facts = Object.entries(factsOf(open, left));
  const points = new Map(open.map((item) => [item, sum(facts.map(([fact, held]) => (held.includes(item) ? RULES.points[fact as keyof typeof RULES.points] : 0)))]));
  const ranked = [...open].sort((one, two) => points.get(two)! - points.get(one)!);
  let near = ranked.filter((item) => points.get(item)! > points.get(ranked[0]!)! - roleLimit("points ahead"));
  if (near.length === 1 && isLikely(near[0]!)) {
    found["outcome"] = near[0];
    near = ranked.slice(1).filter((item) => item.measured);
  } else if (!open.some((item) => item.measured)) {
    found["outcome"] = open.find((item) => item === besideDesign(columns));
  }
  near = near.filter((item) => item.measured || item.says("outcome"));
  const named = Object.entries(found).flatMap(([role, item]) => (item ? [[role, item.name]] : []));
  return { columns: Object.fromEntries(named) as Record<string, string>, candidates: near.map(({ name }) => name) };
}

/** The last of the columns of levels, numbers or two values, where all others are a design, and no other column is left over by one. */
function besideDesign(columns: readonly Column[]): Column | undefined {
  const levels = columns.filter((item) => !item.doubt);
  const left = levels.filter((item) => isDesign(levels.filter((other) => other !== item)));
  return levels.length < 3 || left[1] ? undefined : left.find((item) => item === levels.at(-1) && (item.numeric || item.distinct === 2) && isFree(item));
}

/** Whether most combinations of columns are there, all in about as many rows. */
function isDesign(columns: readonly Column[]): boolean {
  const cells = cellsOf(...columns.map(({ values }) => values));
  return areAlike(cells) && cells.size >= roleLimit("share of a design") * columns.reduce((product, { distinct }) => product * distinct, 1);
}

function isSplit(item: Column): boolean {
  if (item.distinct > 1 && item.distinct <= roleLimit("values of a split") && item.called("split")) return true;
  const texts = new Set([...item.counts.keys()].map((text) => (text.toLowerCase().match(pattern("word")) ?? []).join("")));
  const parts = [...texts];
  return parts.length > 1 && parts.every((text) => wordsOf("parts").has(text)) && parts.some((text) => wordsOf("training").has(text)) && item.distinct <= roleLimit("texts of a split");
}

function mayBeOutcome(item: Column): boolean {
  const classes = item.kind === "text" && item.distinct <= roleLimit("classes");
  return (item.numeric || classes) && !(item.names || ["constant", "notes", "date"].includes(item.doubt) || item.says("survey weight"));
}

const isFree = (item: Column): boolean => !item.says("covariate") && !item.says("group");

/** Whether a column is like an outcome by itself: by a word, or measured and not called after something else. */
const isLikely = (item: Column): boolean => item.says("outcome") || (item.measured && isFree(item));

/** Of which of the columns that may be the outcome each fact is true that the rules give points for. */
function factsOf(items: readonly Column[], columns: readonly Column[]): Record<keyof typeof RULES.points, readonly Column[]> {
  const measured = items.filter((item) => item.measured);
  const several = items.filter((item) => item.numeric && item.distinct > 2);
  const place = columns.some(({ name }) => name.toLowerCase() === "x"); // beside x a y is a place
  const named = items.filter((item) => item.says("outcome") && !(place && item.words.join() === "y"));
  const ended = items.some((item) => item.says("status") && item.distinct <= roleLimit("ends"));
  const first = columns.find((item) => !item.names && !["constant", "date"].includes(item.doubt));
  const yesOrNo = first && [...first.counts.keys()].every((text) => wordsOf("yes or no").has(text.toLowerCase()));
  return {
    "a word of outcomes": named,
    "the only such word": named.length === 1 ? named : [],
    "a word of covariates": items.filter((item) => item.says("covariate")),
    "a word of groups": items.filter((item) => item.says("group")),
    "the first column": first && (first.numeric || yesOrNo || named.includes(first)) ? [first] : [],
    "the first measured": measured.slice(0, 1),
    "the last measured": measured.slice(-1),
    "told by another": items.filter((item) => isTold(item, columns)),
    decimals: items.filter((item) => item.kind === "number"),
    "many values": items.filter((item) => 2 * item.distinct >= item.rows),
    "a time beside a status": measured.filter((item) => ended && item.says("time")),
    "a designed number": several.filter((item) => !item.doubt && item.balanced),
    "counts from zero": several.filter((item) => item.kind === "integer" && item.least === 0),
    "only rises or falls": measured.filter((item) => item.rises),
  };
}

/** Whether another column tells it, label or renaming: a baseline by subject, a logarithm by its number. */
function isTold(item: Column, columns: readonly Column[]): boolean {
  const at = columns.indexOf(item);
  return columns.slice(0, roleLimit("columns that tell")).some((teller, place) => {
    const renames = teller.distinct === item.distinct && place < at;
    const many = teller !== item && Math.max(3, item.distinct) <= teller.distinct && teller.distinct <= item.rows / 2;
    return many && (renames || teller.kind !== "number") && pairsOf(teller.values, item.values) === distinctIn(teller.values, item.values);
  });
}

/** Rows of each combination of values that columns have, in rows with all of them. */
function cellsOf(...columns: Values[]): ReadonlyMap<string, number> {
  const cells = columns[0]?.map((_, row) => columns.map((values) => values[row]!)) ?? [];
  return counted(cells.filter((cell) => !cell.includes(null!)).map((cell) => JSON.stringify(cell)));
}

const pairsOf = (first: Values, second: Values): number => cellsOf(first, second).size;

const distinctIn = (first: Values, second: Values): number => new Set(first.filter((value, row) => value !== null && second[row] !== null)).size;

/** Propose factors: few distinct values, neither used as something else nor looking like it. */
export function proposeRoles(names: readonly string[], rows: readonly (readonly string[])[]): Roles & { readonly factors: readonly string[] } {
  const all = new Map(names.map((name, place) => [name, rows.map((row) => (isMissing(row[place]!) ? null : row[place]!))]));
  const most = Math.max(100, Math.min(SAMPLED_ROWS, Math.floor(SAMPLED_VALUES / Math.max(names.length, 1))));
  const whole = rows.length <= most;
  const columns = names.map((name) => new Column(name, all.get(name)!.slice(0, most), Math.min(rows.length, most)));
  const guessed = guessRoles(columns);
  const taken = new Set(Object.values(guessed.columns));
  const judged = columns.map((item) => new Column(item.name, item.values, rows.length, item));
  const ranked = judged.filter((item) => !taken.has(item.name) && (!item.doubt || (item.doubt === "constant" && !whole)));
  const labels = (item: Column): number => +(item.kind !== "text");
  ranked.sort((one, two) => labels(one) - labels(two));
  const accepted: Column[] = [];
  for (const { name, values } of ranked) {
    if (accepted.length === roleLimit("factors")) break;
    const item = new Column(name, values, rows.length, new Column(name, all.get(name)!, rows.length));
    if (!item.doubt && !accepted.some((other) => isTwin(other, item, all, whole))) accepted.push(item);
  }
  const chosen = new Set(accepted.map(({ name }) => name));
  return { ...guessed, factors: names.filter((name) => chosen.has(name)) };
}

/** Whether an earlier column tells one that renames it, or codes one of its levels (educ and educ1). */
function isTwin(earlier: Column, item: Column, all: ReadonlyMap<string, Values>, whole: boolean): boolean {
  const part = item.distinct < earlier.distinct && item.name.startsWith(earlier.name);
  if (earlier.distinct !== item.distinct && !part) return false;
  const pairs = pairsOf(all.get(earlier.name)!, all.get(item.name)!);
  return whole ? pairs <= earlier.distinct : pairs === earlier.distinct;
}
