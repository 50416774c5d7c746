const size = bytes ?? 16;
if (!Number.isInteger(size) || size < 1 || size > 1024) {
  throw new Error("bytes must be a whole number from 1 to 1024");
}
const drawn = crypto.getRandomValues(new Uint8Array(size));
const base64 = () => btoa(String.fromCharCode(...drawn));
switch ((encoding || "hex").toLowerCase()) {
  case "hex":
    return Array.from(drawn, (byte) => byte.toString(16).padStart(2, "0")).join(
      "",
    );
  case "base64":
    return base64();
  case "base64url":
    return base64()
      .replaceAll("+", "-")
      .replaceAll("/", "_")
      .replaceAll("=", "");
  default:
    throw new Error(
      `encoding must be "hex", "base64" or "base64url", not "${encoding}"`,
    );
}
