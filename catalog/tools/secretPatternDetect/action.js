const MAX_LENGTH = 100_000;
if (text.length > MAX_LENGTH) {
  throw new Error(`text must have at most ${MAX_LENGTH} characters`);
}

// A more special form has the first claim on a place in the text.
const FORMS = {
  "aws-access-key-id": /(?<!\w)(?:AKIA|ASIA)[A-Z0-9]{16}(?!\w)/g,
  "github-token":
    /(?<!\w)(?:gh[pousr]_\w{36,251}|github_pat_\w{22,255})(?!\w)/g,
  "slack-token": /(?<!\w)xox[abeoprs]-[A-Za-z0-9-]{10,250}(?![\w-])/g,
  "google-api-key": /(?<!\w)AIza[\w-]{35}(?![\w-])/g,
  "stripe-key": /(?<!\w)[rs]k_(?:live|test)_[A-Za-z0-9]{16,247}(?!\w)/g,
  "openai-key":
    /(?<![\w-])sk-(?:proj-|svcacct-|admin-)?[\w-]{20,250}(?![\w-])/g,
  jwt: /(?<![\w-])eyJ[\w-]{8,2000}\.eyJ[\w-]{8,4000}\.[\w-]{16,1000}(?![\w-])/g,
  "private-key": /-----BEGIN (?:[A-Z]{2,12} ){0,3}PRIVATE KEY-----/g,
};

const mask = (value) =>
  value.length <= 8
    ? "*".repeat(value.length)
    : value.slice(0, 4) + "*".repeat(value.length - 8) + value.slice(-4);

// What is taken, and the finds by where they begin: an array has its elements
// in order.
const taken = new Uint8Array(text.length);
const found = new Array(text.length);
for (const [type, form] of Object.entries(FORMS)) {
  for (const match of text.matchAll(form)) {
    const value = match[0];
    const start = match.index;
    const end = start + value.length;
    if (!taken.subarray(start, end).includes(1)) {
      taken.fill(1, start, end);
      found[start] = { type, masked: mask(value), index: start };
    }
  }
}
return found.filter(Boolean);
