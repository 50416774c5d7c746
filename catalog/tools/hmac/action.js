const supported = ["SHA-256", "SHA-384", "SHA-512"];
const name = (algorithm || "SHA-256").toUpperCase().replace(/^SHA-?/, "SHA-");
if (!supported.includes(name)) {
  throw new Error(
    `algorithm must be one of ${supported.join(", ")}, not "${algorithm}"`,
  );
}
if (secret === "") {
  throw new Error("secret must not be empty");
}

const encoder = new TextEncoder();
const key = await crypto.subtle.importKey(
  "raw",
  encoder.encode(secret),
  { name: "HMAC", hash: name },
  false,
  ["sign"],
);
const mac = await crypto.subtle.sign("HMAC", key, encoder.encode(text));
return Array.from(new Uint8Array(mac), (byte) =>
  byte.toString(16).padStart(2, "0"),
).join("");
