const MAX_LENGTH = 100_000;
const MAX_TRIED = 10_000;
if (text.length > MAX_LENGTH) {
  throw new Error(`text must have at most ${MAX_LENGTH} characters`);
}

// taken has 1 for each character of a find.
const taken = new Uint8Array(text.length);
const digitsOf = (value) => value.replace(/\D/g, "");

// The check digit of ISO/IEC 7812: every second digit from the right counts
// twice, as the sum of its own digits. PAIRS has what two digits count.
const TWICE = [0, 2, 4, 6, 8, 1, 3, 5, 7, 9];
const PAIRS = Array.from(
  { length: 100 },
  (_, pair) => TWICE[Math.floor(pair / 10)] + (pair % 10),
);
let tried = 0;
const isCard = (digits) => {
  if (!/^[1-9]\d{12,18}$/.test(digits)) {
    return false;
  }
  if (++tried > MAX_TRIED) {
    throw new Error(
      "text has too many numbers that could be card numbers; look at it in parts",
    );
  }
  const pairs = digits.padStart(20, "0").match(/../g);
  return pairs.reduce((sum, pair) => sum + PAIRS[+pair], 0) % 10 === 0;
};

// A card number may also stand beside other numbers, its groups of three
// digits or more between theirs.
const cardsAmongNumbers = () => {
  const cards = [];
  const groups = [...text.matchAll(/(?<!\w)\d{3,19}(?!\w)/g)];
  const endOf = ({ 0: group, index }) => index + group.length;
  for (let first = 0; first < groups.length; first++) {
    const { 0: group, index } = groups[first];
    if (taken[index]) {
      continue;
    }
    let digits = group;
    let last = first;
    while (digits.length <= 19) {
      const end = endOf(groups[last]);
      if (isCard(digits)) {
        cards.push({ 0: text.slice(index, end), index });
        first = last;
        break;
      }
      last++;
      if (groups[last]?.index !== end + 1 || !/[ -]/.test(text[end])) {
        break;
      }
      digits += groups[last][0];
    }
  }
  return cards;
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
    valid: (value) => isCard(digitsOf(value)),
  },
  {
    type: "credit-card",
    find: cardsAmongNumbers,
    shown: digitsOf,
  },
  {
    type: "us-ssn",
    pattern: /(?<![\w-])(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\w-])/g,
    shown: (value) => value,
  },
  {
    type: "us-phone",
    pattern:
      /(?<![\w-])(?:\+?1[ .-]?)?(?:\([2-9]\d{2}\) ?|[2-9]\d{2}[ .-]?)[2-9]\d{2}[ .-]?\d{4}(?![\w-])/g,
    shown: (value) => value,
  },
];

const mask = (value) =>
  value.length <= 4
    ? "*".repeat(value.length)
    : value.slice(0, 2) + "*".repeat(value.length - 4) + value.slice(-2);

// The finds by where they begin: an array has its elements in order.
const found = new Array(text.length);
for (const { type, pattern, find, shown, valid } of KINDS) {
  for (const match of find ? find() : text.matchAll(pattern)) {
    const value = match[0];
    const start = match.index;
    const end = start + value.length;
    const free = !taken.subarray(start, end).includes(1);
    if (free && (!valid || valid(value))) {
      taken.fill(1, start, end);
      found[start] = { type, masked: mask(shown(value)), index: start };
    }
  }
}
return found.filter(Boolean);
