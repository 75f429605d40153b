/** Arithmetic modulo primes just under 2^26: products are below 2^52 and so exact in doubles. */

/** The two largest primes below 2^26. */
export const PRIMES = [67108859, 67108837] as const;

/** Return the residue of x (|x| below 2^53) from 0 to p - 1. */
export function residue(x: number, p: number): number {
  const r = x - Math.floor(x / p) * p;
  return r >= p ? r - p : r < 0 ? r + p : r;
}

/** Return a * b modulo p for residues a and b. */
export function multiply(a: number, b: number, p: number): number {
  return residue(a * b, p);
}

/** Return the inverse of a residue that is not zero. */
export function invert(a: number, p: number): number {
  let [low, high, left, right] = [a, p, 1, 0];
  while (low !== 0) {
    const q = Math.floor(high / low);
    [high, low] = [low, high - q * low];
    [right, left] = [left, right - q * left];
  }
  return residue(right, p);
}

/** A stream of uniform residues, the same for the same seed (xorshift; 32 bits against primes of 26). */
export class Draws {
  #state: number;

  constructor(seed: number) {
    this.#state = Math.imul(seed + 1, 0x9e3779b1) | 1;
  }

  /** Return a whole number from 0 to `below` - 1. */
  next(below: number): number {
    let x = this.#state;
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    this.#state = x;
    // Multiplied, for the low bits of the shifts alone are too regular.
    return Math.floor(((Math.imul(x, 0x9e3779b1) >>> 0) / 4294967296) * below);
  }
}
