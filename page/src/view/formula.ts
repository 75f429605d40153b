/** The reader's own formula: a small language of numbers, levels and functions. Text is parsed, never run. */

export type Formula = (levels: ArrayLike<number>) => number;

/** What is wrong with a formula, and where. */
export class FormulaError extends Error {
  override readonly name = "FormulaError";
}

const FUNCTIONS: Readonly<Record<string, { count: number; of: (...values: number[]) => number }>> = {
  abs: { count: 1, of: Math.abs },
  sign: { count: 1, of: Math.sign },
  sqrt: { count: 1, of: Math.sqrt },
  exp: { count: 1, of: Math.exp },
  log: { count: 1, of: Math.log },
  sin: { count: 1, of: Math.sin },
  cos: { count: 1, of: Math.cos },
  tanh: { count: 1, of: Math.tanh },
  floor: { count: 1, of: Math.floor },
  round: { count: 1, of: Math.round },
  min: { count: 2, of: Math.min },
  max: { count: 2, of: Math.max },
  if: { count: 3, of: (test, yes, no) => (test ? yes! : no!) },
};
const OPERATORS: Readonly<Record<string, { level: number; of: (left: number, right: number) => number }>> = {
  "<": { level: 1, of: (left, right) => +(left < right) },
  ">": { level: 1, of: (left, right) => +(left > right) },
  "<=": { level: 1, of: (left, right) => +(left <= right) },
  ">=": { level: 1, of: (left, right) => +(left >= right) },
  "==": { level: 1, of: (left, right) => +(left === right) },
  "!=": { level: 1, of: (left, right) => +(left !== right) },
  "+": { level: 2, of: (left, right) => left + right },
  "-": { level: 2, of: (left, right) => left - right },
  "*": { level: 3, of: (left, right) => left * right },
  "/": { level: 3, of: (left, right) => left / right },
  "%": { level: 3, of: (left, right) => left - right * Math.floor(left / right) },
  "^": { level: 5, of: (left, right) => left ** right },
};
const SIGN_LEVEL = 4; // -a^2 is -(a^2), and -a*b is (-a)*b
const LONGEST = 300;
const DEEPEST = 40;
const TOKEN = /\s*(?:(\d+\.?\d*(?:e[+-]?\d+)?|\.\d+(?:e[+-]?\d+)?)|([a-z]\w*)|(<=|>=|==|!=|[-+*/%^<>(),]))/iy;

interface Token {
  readonly kind: "number" | "name" | "sign" | "end";
  readonly text: string;
  readonly at: number;
}

function tokens(text: string): Token[] {
  const found: Token[] = [];
  TOKEN.lastIndex = 0;
  while (text.slice(TOKEN.lastIndex).trim()) {
    const from = TOKEN.lastIndex;
    const match = TOKEN.exec(text);
    if (!match) {
      const at = from + text.slice(from).search(/\S/);
      throw new FormulaError(`'${text[at]}' at place ${at + 1} is not part of a formula`);
    }
    if (match[3] === "*" && text[TOKEN.lastIndex] === "*") throw new FormulaError(`'**' at place ${TOKEN.lastIndex} is written ^ here, such as a ^ 2`);
    const kind = match[1] ? "number" : match[2] ? "name" : "sign";
    const word = match[1] ?? match[2] ?? match[3]!;
    found.push({ kind, text: word, at: TOKEN.lastIndex - word.length });
  }
  found.push({ kind: "end", text: "the end", at: text.length });
  return found;
}

/** Return the formula that a text means; its names are those of the factors a, b, ... of so many. */
export function parseFormula(text: string, factors: number): Formula {
  if (!text.trim()) throw new FormulaError("the formula is empty; write one such as a * b");
  if (text.length > LONGEST) throw new FormulaError(`the formula is longer than ${LONGEST} characters; shorten it`);
  const list = tokens(text);
  let place = 0;
  let depth = 0;
  const peek = (): Token => list[place]!;
  const next = (): Token => list[place++]!;
  const expect = (sign: string): void => {
    const token = next();
    if (token.text !== sign || token.kind !== "sign") {
      throw new FormulaError(`'${sign}' was expected at place ${token.at + 1}, and ${token.text} is there`);
    }
  };

  const named = (token: Token): Formula => {
    const word = token.text.toLowerCase();
    if (peek().text === "(" && Object.hasOwn(FUNCTIONS, word)) {
      const { count, of } = FUNCTIONS[word]!;
      next();
      const parts: Formula[] = [];
      for (let at = 0; at < count; at++) {
        if (at) expect(",");
        parts.push(expression(0));
      }
      expect(")");
      return (levels) => of(...parts.map((part) => part(levels)));
    }
    if (word === "pi") return () => Math.PI;
    const functions = Object.keys(FUNCTIONS);
    if (peek().text === "(") throw new FormulaError(`'${token.text}' at place ${token.at + 1} is no function; there are ${functions.join(", ")}`);
    if (functions.includes(word)) throw new FormulaError(`'${token.text}' at place ${token.at + 1} needs brackets, such as ${word}(a)`);
    const factor = word.length === 1 ? "abcdefgh".indexOf(word) : -1;
    if (factor < 0 || factor >= factors) {
      const known = [..."abcdefgh".slice(0, factors)].join(", ");
      throw new FormulaError(`'${token.text}' at place ${token.at + 1} is unknown; the factors are ${known}`);
    }
    return (levels) => levels[factor]!;
  };

  const operand = (): Formula => {
    const token = next();
    if (token.kind === "number") {
      const value = Number(token.text);
      return () => value;
    }
    if (token.kind === "name") return named(token);
    if (token.text === "-") {
      const part = expression(SIGN_LEVEL);
      return (levels) => -part(levels);
    }
    if (token.text === "(") {
      const part = expression(0);
      expect(")");
      return part;
    }
    throw new FormulaError(`a number, a factor or a function was expected at place ${token.at + 1}, and ${token.text} is there`);
  };

  const expression = (least: number): Formula => {
    if (++depth > DEEPEST) throw new FormulaError("the formula has too many brackets inside brackets");
    let left = operand();
    for (;;) {
      const token = peek();
      const operator = token.kind === "sign" && Object.hasOwn(OPERATORS, token.text) ? OPERATORS[token.text]! : null;
      if (!operator || operator.level < least) break;
      next();
      // Powers bind to the right, everything else to the left.
      const right = expression(token.text === "^" ? operator.level : operator.level + 1);
      const [one, of] = [left, operator.of];
      left = (levels) => of(one(levels), right(levels));
    }
    depth--;
    return left;
  };

  const whole = expression(0);
  if (peek().kind !== "end") throw new FormulaError(`${peek().text} at place ${peek().at + 1} was not expected`);
  return whole;
}
