/** From residues to fractions: weights of a certificate are ratios of small whole numbers. */

/** A fraction in lowest terms, the denominator positive. */
export interface Fraction {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

/** Return the fraction a / b with the smallest parts that is the residue x modulo m; null if none is small enough. */
export function reconstruct(x: bigint, m: bigint): Fraction | null {
  let [high, low] = [m, ((x % m) + m) % m];
  let [before, now] = [0n, 1n];
  while (2n * low * low > m) {
    const q = high / low;
    [high, low] = [low, high - q * low];
    [before, now] = [now, before - q * now];
  }
  if (2n * now * now > m) return null;
  return now < 0n ? { numerator: -low, denominator: -now } : { numerator: low, denominator: now };
}

/** Return the number that is x modulo m and y modulo the prime p. */
export function combine(x: bigint, m: bigint, y: bigint, p: bigint): bigint {
  const inverse = power(m % p, p - 2n, p);
  const step = ((((y - x) % p) + p) * inverse) % p;
  return x + m * step;
}

function power(base: bigint, exponent: bigint, p: bigint): bigint {
  let [result, square] = [1n, base % p];
  for (let left = exponent; left > 0n; left >>= 1n) {
    if (left & 1n) result = (result * square) % p;
    square = (square * square) % p;
  }
  return result;
}
