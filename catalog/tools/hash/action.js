const supported = ["SHA-256", "SHA-384", "SHA-512", "SHA-1"];
const name = (algorithm || "SHA-256").toUpperCase().replace(/^SHA-?/, "SHA-");
if (!supported.includes(name)) {
  throw new Error(
    `algorithm must be one of ${supported.join(", ")}, not "${algorithm}"`,
  );
}

const digest = await crypto.subtle.digest(name, new TextEncoder().encode(text));
return Array.from(new Uint8Array(digest), (byte) =>
  byte.toString(16).padStart(2, "0"),
).join("");
