const { bytes: size } = safety.check(args, {
  bytes: { type: "integer", minimum: 1, maximum: 1024, default: 16 },
});
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
