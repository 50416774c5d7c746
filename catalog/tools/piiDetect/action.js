const MAX_LENGTH = 100_000;
if (text.length > MAX_LENGTH) {
  throw new Error(`text must have at most ${MAX_LENGTH} characters`);
}

const digitsOf = (value) => value.replace(/\D/g, "");

// luhn is the check digit of ISO/IEC 7812: every second digit from the right
// counts twice, as the sum of its own digits.
const luhn = (digits) => {
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits[digits.length - 1 - i]);
    const weighted = i % 2 === 0 ? digit : digit * 2;
    sum += weighted > 9 ? weighted - 9 : weighted;
  }
  return sum % 10 === 0;
};

// An earlier kind has the first claim: a card number holds what could be a
// telephone number.
const KINDS = [
  {
    type: "email",
    pattern:
      /(?<![\w.%+-])[\w.%+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}(?![\w-])/g,
    shown: (value) => value,
  },
  {
    type: "credit-card",
    pattern: /(?<![\w-])\d(?:[ -]?\d){12,18}(?![\w-])/g,
    shown: digitsOf,
    valid: (value) => luhn(digitsOf(value)),
  },
  {
    type: "us-ssn",
    pattern: /(?<![\w-])(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\w-])/g,
    shown: (value) => value,
  },
  {
    type: "us-phone",
    pattern:
      /(?<![\w-])(?:\+?1[ .-]?)?(?:\([2-9]\d{2}\) ?|[2-9]\d{2}[ .-])[2-9]\d{2}[ .-]\d{4}(?![\w-])/g,
    shown: (value) => value,
  },
];

const mask = (value) =>
  value.length <= 4
    ? "*".repeat(value.length)
    : value.slice(0, 2) + "*".repeat(value.length - 4) + value.slice(-2);

const found = [];
for (const { type, pattern, shown, valid } of KINDS) {
  for (const match of text.matchAll(pattern)) {
    const value = match[0];
    const start = match.index;
    const end = start + value.length;
    const taken = found.some((other) => start < other.end && end > other.index);
    if (!taken && (!valid || valid(value))) {
      found.push({ type, masked: mask(shown(value)), index: start, end });
    }
  }
}
return found
  .sort((one, other) => one.index - other.index)
  .map(({ type, masked, index }) => ({ type, masked, index }));
