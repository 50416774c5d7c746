const { length: size } = safety.check(args, {
  length: { type: "integer", minimum: 8, maximum: 128, default: 20 },
});
const kinds = [
  [includeLowercase, "abcdefghijklmnopqrstuvwxyz"],
  [includeUppercase, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"],
  [includeDigits, "0123456789"],
  [includeSymbols, "!#$%*+-./:=?@^_~"],
]
  .filter(([wanted]) => wanted !== false)
  .map(([, characters]) => characters);
if (kinds.length === 0) {
  throw new Error("at least one kind of characters must be included");
}
const alphabet = kinds.join("");

// Bytes beyond the last whole multiple of the alphabet are drawn again: with
// a plain remainder its first characters would come more often.
const usable = 256 - (256 % alphabet.length);
const draw = () => {
  let password = "";
  while (password.length < size) {
    for (const byte of crypto.getRandomValues(new Uint8Array(size))) {
      if (byte < usable && password.length < size) {
        password += alphabet[byte % alphabet.length];
      }
    }
  }
  return password;
};

// A password that lacks a kind is drawn again as a whole; to put one in would
// make some passwords likelier than others.
const complete = (password) =>
  kinds.every((characters) =>
    Array.from(password).some((character) => characters.includes(character)),
  );
let password = draw();
while (!complete(password)) {
  password = draw();
}
return password;
