const FUNCTIONS = {
  min: Math.min,
  max: Math.max,
  abs: Math.abs,
  round: Math.round,
  floor: Math.floor,
  ceil: Math.ceil,
  sqrt: Math.sqrt,
  pow: Math.pow,
};
const CONSTANTS = { true: true, false: false, null: null };
const MAX_LENGTH = 4000;
const MAX_DEPTH = 64;

if (expression.length > MAX_LENGTH) {
  throw new Error(`expression is longer than ${MAX_LENGTH} characters`);
}
const finite = (value) => {
  if (typeof value === "number" && !Number.isFinite(value)) {
    throw new Error("a result is not a finite number");
  }
  return value;
};

let scope = variables ?? {};
if (typeof scope === "string") {
  scope = JSON.parse(scope || "{}");
}
for (const name of Object.keys(scope)) {
  const type = scope[name] === null ? "null" : typeof scope[name];
  if (!["number", "string", "boolean", "null"].includes(type)) {
    throw new Error(`variable "${name}" must be a number, string or boolean`);
  }
}

const tokens = [];
const lexeme =
  /\s+|(\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)|([A-Za-z_$][\w$]*)|"([^"\\]*)"|'([^'\\]*)'|(\*\*|===|!==|==|!=|<=|>=|&&|\|\||[-+*/%()<>!?:,])/y;
while (lexeme.lastIndex < expression.length) {
  const at = lexeme.lastIndex;
  const match = lexeme.exec(expression);
  if (!match) {
    const hint = expression[at] === "^" ? "; write ** for a power" : "";
    throw new Error(
      `unexpected "${expression[at]}" at position ${at + 1}${hint}`,
    );
  }
  const [source, number, name, double, single, symbol] = match;
  const text = double ?? single;
  if (number !== undefined) {
    const value = finite(Number(number));
    if (/^\d+$/.test(number) && !Number.isSafeInteger(value)) {
      throw new Error(`${number} is beyond 2 ** 53 - 1: it would not be exact`);
    }
    tokens.push({ kind: "value", value, source, at });
  } else if (text !== undefined) {
    tokens.push({ kind: "value", value: text, source, at });
  } else if (name !== undefined) {
    tokens.push({ kind: "name", source, at });
  } else if (symbol !== undefined) {
    tokens.push({ kind: symbol, source, at });
  }
}
tokens.push({ kind: "end", source: "end of expression" });

let next = 0;
let depth = 0;
const accept = (...kinds) =>
  kinds.includes(tokens[next].kind) ? tokens[next++] : null;
const unexpected = () => {
  const { source, at } = tokens[next];
  const place = at === undefined ? "" : ` at position ${at + 1}`;
  return new Error(`unexpected ${source}${place}`);
};
const expect = (kind) => {
  if (!accept(kind)) {
    throw unexpected();
  }
};
const nested = (parse) => {
  if (++depth > MAX_DEPTH) {
    throw new Error(`expression is nested deeper than ${MAX_DEPTH} levels`);
  }
  const node = parse();
  depth--;
  return node;
};

const numeric = (operator, compute) => (a, b) => {
  if (typeof a !== "number" || typeof b !== "number") {
    throw new Error(`${operator} needs numbers`);
  }
  return finite(compute(a, b));
};
const ordered = (operator, compute) => (a, b) => {
  if (typeof a !== typeof b || !["number", "string"].includes(typeof a)) {
    throw new Error(`${operator} needs two numbers or two strings`);
  }
  return finite(compute(a, b));
};
const divisor = (operator, compute) =>
  numeric(operator, (a, b) => {
    if (b === 0) {
      throw new Error("division by zero");
    }
    return compute(a, b);
  });
const BINARY = {
  "+": ordered("+", (a, b) => a + b),
  "-": numeric("-", (a, b) => a - b),
  "*": numeric("*", (a, b) => a * b),
  "/": divisor("/", (a, b) => a / b),
  "%": divisor("%", (a, b) => a % b),
  "**": numeric("**", (a, b) => a ** b),
  "<": ordered("<", (a, b) => a < b),
  "<=": ordered("<=", (a, b) => a <= b),
  ">": ordered(">", (a, b) => a > b),
  ">=": ordered(">=", (a, b) => a >= b),
  "==": (a, b) => a === b,
  "===": (a, b) => a === b,
  "!=": (a, b) => a !== b,
  "!==": (a, b) => a !== b,
};

// Each parser returns a function that computes its part, so that the branch
// of ?:, && and || that is not taken is never computed.
const parsePrimary = () => {
  const token = accept("value", "name", "(");
  if (!token) {
    throw unexpected();
  }
  if (token.kind === "value") {
    return () => token.value;
  }
  if (token.kind === "(") {
    const inner = parseTernary();
    expect(")");
    return inner;
  }
  const name = token.source;
  if (accept("(")) {
    if (!Object.hasOwn(FUNCTIONS, name)) {
      const known = Object.keys(FUNCTIONS).join(", ");
      throw new Error(`unknown function "${name}"; there are ${known}`);
    }
    const list = [];
    if (!accept(")")) {
      do {
        list.push(parseTernary());
      } while (accept(","));
      expect(")");
    }
    const fixed = { min: 0, max: 0, pow: 2 }[name] ?? 1;
    if (fixed === 0 ? list.length === 0 : list.length !== fixed) {
      throw new Error(`${name} needs ${fixed || "at least 1"} argument(s)`);
    }
    return () => {
      const values = list.map((compute) => compute());
      if (values.some((value) => typeof value !== "number")) {
        throw new Error(`${name} needs numbers`);
      }
      return finite(FUNCTIONS[name](...values));
    };
  }
  if (Object.hasOwn(scope, name)) {
    return () => scope[name];
  }
  if (Object.hasOwn(CONSTANTS, name)) {
    return () => CONSTANTS[name];
  }
  return () => {
    throw new Error(`unknown variable "${name}"; pass it in variables`);
  };
};

// A power binds tighter than the sign before it and groups to the right.
const parsePower = () => {
  const base = parsePrimary();
  if (!accept("**")) {
    return base;
  }
  const exponent = parseUnary();
  return () => BINARY["**"](base(), exponent());
};
const parseUnary = () => nested(parseSigned);
const parseSigned = () => {
  const sign = accept("-", "+", "!");
  if (!sign) {
    return parsePower();
  }
  const operand = parseUnary();
  if (sign.kind === "!") {
    return () => !operand();
  }
  return () => {
    const value = operand();
    if (typeof value !== "number") {
      throw new Error(`${sign.kind} needs a number`);
    }
    return sign.kind === "-" ? -value : value;
  };
};

// From loosest to tightest, below the ternary.
const LEVELS = [
  ["||"],
  ["&&"],
  ["==", "!=", "===", "!=="],
  ["<", "<=", ">", ">="],
  ["+", "-"],
  ["*", "/", "%"],
];
const parseLevel = (level) => {
  if (level === LEVELS.length) {
    return parseUnary();
  }
  let left = parseLevel(level + 1);
  for (;;) {
    const token = accept(...LEVELS[level]);
    if (!token) {
      return left;
    }
    left = combine(token.kind, left, parseLevel(level + 1));
  }
};
const combine = (operator, left, right) => {
  if (operator === "||") {
    return () => left() || right();
  }
  if (operator === "&&") {
    return () => left() && right();
  }
  return () => BINARY[operator](left(), right());
};
const parseTernary = () => nested(parseChoice);
const parseChoice = () => {
  const condition = parseLevel(0);
  if (!accept("?")) {
    return condition;
  }
  const yes = parseTernary();
  expect(":");
  const no = parseTernary();
  return () => (condition() ? yes() : no());
};

const compute = parseTernary();
expect("end");
return compute();
