// Makes calls of methods of text with regular expressions and prints them with
// the answers of this engine as JSON: [pattern, flags, text, operation, argument, answer].
let seed = 77041;
const random = (n) => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return Math.floor(seed / 4294967296 * n);
};
const pick = (list) => list[random(list.length)];
const atoms = ["a", "b", "c", ".", "\\w", "\\d", "\\s", "[a-z]", "[^a]", "[^.]", "é", "😀", " ", "-", ",", "[\\s,]", "\\W"];
const quantifiers = ["*", "+", "?", "*?", "+?", "{2}", "{1,2}", "{0,2}"];
const wraps = ["(", "(", "(?:", "(?<n>", "(?=", "(?!", "(?<=", "(?<!"];
const term = (depth) => {
  const r = random(20);
  if (depth > 0 && r < 5) return [pick(wraps) + sequence(depth - 1) + ")", true];
  if (r < 8) return [pick(["^", "$", "\\b", "\\B"]), false];
  return [pick(atoms), true];
};
function sequence(depth) {
  let out = "";
  for (let n = 1 + random(3); n > 0; n--) {
    const [t, repeats] = term(depth);
    out += t;
    if (repeats && !/^\(\?(?:=|!|<=|<!)/.test(t) && random(5) < 2) out += pick(quantifiers);
  }
  return random(7) ? out : out + "|" + (random(6) ? sequence(0) : "");
}
const pieces = ["a", "b", "c", "aa", "ab", " ", "  ", "1", "-", ",", ".", "\n", "A", "é", "😀", "É"];
const plain = ["a", "b", "a", " ", "a", "1", ",", "."];
const templates = ["x", "-", "[$&]", "<$1>", "$`|$'", "$$", "$2$1", "$<n>", "$01", "$10", "", "$", "$0"];
const run = (pattern, flags, text, op, arg) => {
  const re = new RegExp(pattern, flags);
  re.lastIndex = flags.includes("y") && text.length > 2 ? 1 : 0;
  let got;
  switch (op) {
    case "replace": case "replaceAll": got = text[op](re, arg); break;
    case "call": got = text.replace(re, (...x) => JSON.stringify(x.map((y) => (typeof y === "object" ? Object.entries(y) : y ?? null)))); break;
    case "match": got = text.match(re); got = got && [got.index ?? null, ...got]; break;
    case "matchAll": got = [...text.matchAll(re)].map((m) => [m.index, ...m]); break;
    case "split": got = text.split(re, arg ?? undefined); break;
    case "search": got = text.search(re); break;
  }
  return [got, re.lastIndex];
};
const rows = [];
while (rows.length < 6500) {
  const pattern = sequence(1);
  let flags = pick(["", "g", "g", "g", "gi", "gs", "gm"]) + pick(["", "", "u"]) + pick(["", "", "", "y"]);
  let text = "";
  const list = random(2) ? plain : pieces;
  for (let n = random(8); n > 0; n--) text += pick(list);
  // V8 finds assertions in the middle of a pair, where ECMA-262 never looks.
  if (flags.includes("u") && /\\B|\(\?/.test(pattern)) text = text.replaceAll("😀", "-");
  const op = pick(["replace", "replace", "replaceAll", "call", "match", "matchAll", "split", "split", "search"]);
  if (op === "replaceAll" || op === "matchAll") if (!flags.includes("g")) flags += "g";
  const arg = op.startsWith("replace") ? pick(templates) : op === "split" && !random(3) ? random(4) : null;
  let answer;
  try { answer = run(pattern, flags, text, op, arg); } catch { continue; }
  rows.push([pattern, flags, text, op, arg, answer]);
}
console.log("[" + rows.map((r) => JSON.stringify(r)).join(",\n") + "]");
