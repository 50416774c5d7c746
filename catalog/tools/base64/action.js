const direction = (mode || "encode").toLowerCase();

if (direction === "encode") {
  const bytes = new TextEncoder().encode(text);
  // In chunks: one call with every byte as an argument overflows the stack.
  let binary = "";
  for (let i = 0; i < bytes.length; i += 4096) {
    binary += String.fromCharCode.apply(null, bytes.subarray(i, i + 4096));
  }
  const encoded = btoa(binary);
  if (!urlSafe) {
    return encoded;
  }
  return encoded.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

if (direction !== "decode") {
  throw new Error(`mode must be "encode" or "decode", not "${mode}"`);
}

// Both alphabets, padded or not, with line breaks as in PEM and MIME.
const compact = text
  .replace(/\s+/g, "")
  .replaceAll("-", "+")
  .replaceAll("_", "/");
const digits = compact.replace(/={1,2}$/, "");
const padded = digits.padEnd(Math.ceil(digits.length / 4) * 4, "=");
if (
  !/^[A-Za-z0-9+/]*$/.test(digits) ||
  digits.length % 4 === 1 ||
  ![digits, padded].includes(compact)
) {
  throw new Error("text is not Base64");
}
const binary = atob(padded);
if (btoa(binary) !== padded) {
  throw new Error("text is not Base64: its last digit has bits left over");
}
const bytes = Uint8Array.from(Array.from(binary), (c) => c.charCodeAt(0));
try {
  return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
} catch {
  throw new Error("the decoded bytes are not UTF-8 text");
}
