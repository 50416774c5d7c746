const parts = token
  .trim()
  .replace(/^Bearer\s+/i, "")
  .split(".");
if (parts.length === 5) {
  throw new Error(
    "token is encrypted (JWE, five parts); only signed tokens can be read",
  );
}
if (parts.length !== 3) {
  throw new Error("token must have three parts separated by dots");
}

const readObject = (segment, what) => {
  let value;
  try {
    const base64 = segment.replaceAll("-", "+").replaceAll("_", "/");
    const binary = atob(base64 + "=".repeat((4 - (base64.length % 4)) % 4));
    const bytes = Uint8Array.from(Array.from(binary), (c) => c.charCodeAt(0));
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw new Error(`the ${what} of the token is not base64url-encoded JSON`);
  }
  if (value === null || typeof value !== "object" || Array.isArray(value)) {
    throw new Error(`the ${what} of the token is not a JSON object`);
  }
  return value;
};

return {
  header: readObject(parts[0], "header"),
  payload: readObject(parts[1], "payload"),
  signaturePresent: parts[2] !== "",
};
