/** The words of the engine: what goes in and what comes out. A cell is a number: its place in the product of all
 * factors, last factor fastest. Arrays with one entry per cell have the length of that product. */

/** The additive model: how many levels each factor has and how many factors may interact. */
export interface Model {
  readonly sizes: readonly number[];
  /** Largest number of factors that interact: 1 for effects that add, up to the number of factors. */
  readonly order: number;
  /** Groups of interchangeable factors, such as [[0, 1]] for pairs of genes. */
  readonly symmetric?: readonly (readonly number[])[];
}

/** One byte per cell: 1 where there is data. */
export type Mask = Uint8Array;

/** Codes of verdicts, the same as in Python. */
export const Verdict = { SEEN: 0, DETERMINED: 1, DISCONNECTED: 2, UNSEEN_LEVEL: 3 } as const;
export type VerdictCode = (typeof Verdict)[keyof typeof Verdict];
export const VERDICT_WORDS = ["seen", "determined", "disconnected", "unseen level"] as const;

/** What the seen cells say about all others; made by `identify`. */
export interface Identification {
  readonly model: Model;
  /** The seen cells; of interchangeable factors, in every order. */
  readonly seen: Mask;
  /** One verdict per cell. */
  readonly verdicts: Uint8Array;
  /** How many cells have each verdict, by code; interchangeable ones count once. */
  readonly counts: readonly [number, number, number, number];
  /** Rank of the seen cells. */
  readonly rank: number;
  /** How many more independent cells would determine every cell of the levels present. */
  readonly deficit: number;
  /** How the verdicts were found: connectivity, or arithmetic modulo two primes. */
  readonly route: "graph" | "exact";
}

/** A seen cell and its weight, a fraction in lowest terms with a positive denominator. */
export interface Term {
  readonly cell: number;
  readonly numerator: number;
  readonly denominator: number;
}

/** Signed seen cells whose sum is the cell. */
export interface Certificate {
  readonly cell: number;
  /** Positive weights first. */
  readonly terms: readonly Term[];
  /** Two factors at order 1: the terms as they lie along the path, ends first; signs alternate. Else empty. */
  readonly path: readonly number[];
}

/** Least-squares values under the additive model. */
export interface AdditiveFit {
  /** One value per cell, NaN where it is not determined; at seen cells the fitted value. */
  readonly values: Float64Array;
  /** Value of each conjunction, the shortest solution; columns as `conjunctionsOf` numbers them. */
  readonly table: Float64Array;
}

/** Increasing curve from the hidden sum to the outcome. */
export interface Curve {
  readonly knots: Float64Array;
  readonly start: number;
  readonly slopes: Float64Array;
}

/** Effects that add on a hidden scale, bent by one increasing curve. */
export interface LinkFit {
  /** One value per cell whose terms were all seen, else NaN. */
  readonly values: Float64Array;
  /** The hidden sum of every cell. */
  readonly sums: Float64Array;
  readonly curve: Curve;
  /** Smallest and largest hidden sum of a seen cell; beyond, the curve is continued straight and nothing is known. */
  readonly seenRange: readonly [number, number];
  readonly noise: number;
  readonly rounds: number;
}

/** Which wide network: all layers learn (ntk), or the readout alone (nngp). */
export type KernelName = "ntk" | "nngp";

/** How predictions at some cells depart from what is determined, factor by factor. */
export interface ErrorParts {
  /** Share of each factor's effect that arrives (1: all of it); NaN where the cells do not vary it. */
  readonly slopes: Float64Array;
  /** How far predictions follow each factor's marginal away from its effect (1: all the way); NaN where they agree. */
  readonly pulls: Float64Array;
  /** By how much each shortcut moves the predictions, root mean square in standard deviations of the seen outcomes. */
  readonly shortcutSizes: Float64Array;
  /** Share of the squared error that is each factor's shortcut. */
  readonly shortcutShares: Float64Array;
  /** Standard deviation of each factor's effect over the cells, in units of the outcome. */
  readonly effects: Float64Array;
  /** How many cells this was read from. */
  readonly cells: number;
}

/** A cell to collect next. */
export interface Suggestion {
  readonly cell: number;
  /** `connect`: other cells become determined with it; `sharpen`: values that follow become surer. */
  readonly reason: "connect" | "sharpen";
  /** connect: how many other unseen cells it determines; sharpen: by what share the mean variance falls. */
  readonly gain: number;
  /** connect: the cells that become determined with it, itself left out. */
  readonly settles: readonly number[];
}

/** What is too large for the page; the text says what it is and what to use instead. */
export class TooLarge extends Error {
  override readonly name = "TooLarge";
}

/** The functions of the engine, exported one by one under these names. `outcome` holds one number per cell; only those
 * at seen cells are read, unless something else is said; of interchangeable factors it is the same in every order.
 * `weights` holds one positive number per cell: how often a seen one was measured, once by default. */
export interface Engine {
  /** Say of every cell whether it was seen, follows, or does not. */
  identify(model: Model, seen: Mask): Identification;
  /** Return signed seen cells that add up to a seen or determined cell; null for any other. Two factors at order 1:
   * the fewest there are. */
  certificate(found: Identification, cell: number): Certificate | null;
  /** Return the value a certificate gives. */
  certificateValue(proof: Certificate, outcome: ArrayLike<number>): number;
  /** Return the variance of each cell's least-squares value, in units of one seen cell's; NaN if not determined. */
  leverages(found: Identification): Float64Array;
  /** Fit the additive model by least squares. */
  fitAdditive(found: Identification, outcome: ArrayLike<number>, weights?: ArrayLike<number>): AdditiveFit;
  /** Fit effects that add on a hidden scale, and the increasing curve from there to the outcome; null where seen cells
   * or outcomes do not differ. */
  fitLink(found: Identification, outcome: ArrayLike<number>, weights?: ArrayLike<number>): LinkFit | null;
  /** Return the kernel of a wide ReLU network of so many hidden layers on one-hot inputs: its values at cells that
   * share 0, 1, ... of so many factors, 1 for identical ones. */
  overlapKernel(name: KernelName, depth: number, factors: number): Float64Array;
  /** Return what a network with that kernel, trained on the seen cells to convergence, says at every cell. */
  predictNetwork(model: Model, seen: Mask, outcome: ArrayLike<number>, kernel: ArrayLike<number>): Float64Array;
  /** Read from predictions (one per cell) at unseen determined cells which effects leak and which factors are shortcuts.
   * `truth`, one number per cell, is what holds there; without it, what adding says. Null where fewer than 8 cells are
   * determined. Effects are those of order 1. */
  readSlopes(
    found: Identification,
    outcome: ArrayLike<number>,
    predictions: ArrayLike<number>,
    truth?: ArrayLike<number>,
    weights?: ArrayLike<number>,
  ): ErrorParts | null;
  /** Return the next `count` cells to collect. */
  suggest(found: Identification, count: number, weights?: ArrayLike<number>): Suggestion[];
}
