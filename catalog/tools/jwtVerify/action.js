const HASHES = { HS256: "SHA-256", HS384: "SHA-384", HS512: "SHA-512" };

const parts = token
  .trim()
  .replace(/^Bearer\s+/i, "")
  .split(".");
if (parts.length !== 3) {
  throw new Error("token must have three parts separated by dots");
}
if (secret === "") {
  throw new Error("secret must not be empty");
}

const readBytes = (segment, what) => {
  if (!/^[\w-]*$/.test(segment) || segment.length % 4 === 1) {
    throw new Error(`the ${what} of the token is not base64url`);
  }
  const base64 = segment.replaceAll("-", "+").replaceAll("_", "/");
  const binary = atob(base64 + "=".repeat((4 - (base64.length % 4)) % 4));
  return Uint8Array.from(Array.from(binary), (c) => c.charCodeAt(0));
};
const readObject = (segment, what) => {
  const bytes = readBytes(segment, what);
  let value;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw new Error(`the ${what} of the token is not JSON`);
  }
  if (value === null || typeof value !== "object" || Array.isArray(value)) {
    throw new Error(`the ${what} of the token is not a JSON object`);
  }
  return value;
};

const header = readObject(parts[0], "header");
const payload = readObject(parts[1], "payload");
const signature = readBytes(parts[2], "signature");
const reasons = [];

const hash =
  typeof header.alg === "string" && Object.hasOwn(HASHES, header.alg)
    ? HASHES[header.alg]
    : null;
if (!hash) {
  reasons.push(
    `the algorithm ${JSON.stringify(header.alg ?? null)} is not accepted; HS256, HS384 and HS512 are`,
  );
} else {
  const key = await crypto.subtle.importKey(
    "raw",
    new TextEncoder().encode(secret),
    { name: "HMAC", hash },
    false,
    ["verify"],
  );
  const signed = new TextEncoder().encode(`${parts[0]}.${parts[1]}`);
  if (!(await crypto.subtle.verify("HMAC", key, signature, signed))) {
    reasons.push("the signature does not match");
  }
}
// RFC 7515, 4.1.11: what a token calls critical has to be understood.
if (header.crit !== undefined) {
  reasons.push("the header names critical extensions, which are not supported");
}

// RFC 7519, 4.1.4 and 4.1.5; in seconds since 1970.
const now = Date.now() / 1000;
for (const [claim, holds, why] of [
  ["exp", (time) => now < time, "the token has expired"],
  ["nbf", (time) => now >= time, "the token is not valid yet"],
]) {
  const time = payload[claim];
  if (time === undefined) {
    continue;
  }
  if (typeof time !== "number") {
    reasons.push(`${claim} is not a number`);
  } else if (!holds(time)) {
    reasons.push(why);
  }
}

return {
  valid: reasons.length === 0,
  algorithm: typeof header.alg === "string" ? header.alg : null,
  header,
  payload,
  reasons,
};
