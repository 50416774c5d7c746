const direction = (mode || "encode").toLowerCase();

if (direction === "encode") {
  const digits = Array.from(new TextEncoder().encode(text), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");
  return upperCase ? digits.toUpperCase() : digits;
}

if (direction !== "decode") {
  throw new Error(`mode must be "encode" or "decode", not "${mode}"`);
}

const compact = text.trim().replace(/^0x/i, "").replace(/[\s:]/g, "");
if (!/^(?:[0-9a-f]{2})*$/i.test(compact)) {
  throw new Error("text must be pairs of hexadecimal digits");
}
const pairs = compact.match(/../g) || [];
const bytes = Uint8Array.from(pairs, (pair) => Number.parseInt(pair, 16));
try {
  return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
} catch {
  throw new Error("the decoded bytes are not UTF-8 text");
}
