// Makes regular expressions from a grammar, with texts to match, and prints
// them with the answers of this engine as JSON: [pattern, flags, text, answer],
// null for an expression that is a syntax error.
let seed = 20240229;
const random = (n) => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return Math.floor(seed / 4294967296 * n);
};
const pick = (list) => list[random(list.length)];
const atoms = ["a", "b", "c", "k", "s", ".", "\\w", "\\d", "\\s", "\\W", "[a-z]", "[^a-z]", "[ab]", "[^b]", "é", "[à-ö]", "ß", "\\S", "-", "[\\w.-]", "[\\s\\S]", "\\u212a", "[k\\d]"];
const often = ["a", "b", "c", "\\w", "[ab]", "."];
const quantifiers = ["*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{0,2}", "{2,}"];
let groups = 0;
const term = (depth) => {
  const r = random(100);
  if (depth > 0 && r < 40) {
    const inner = alternatives;
    const kind = random(20);
    if (kind < 9) { groups++; return "(" + inner(depth - 1) + ")"; }
    if (kind < 15) return "(?:" + inner(depth - 1) + ")";
    return pick(["(?=", "(?!", "(?<=", "(?<!"]) + inner(depth - 1) + ")!";
  }
  if (r < 45) return pick(["^!", "$!", "\\b!", "\\B!"]);
  if (r < 48 && groups > 0) return "\\" + (1 + random(groups));
  return pick(random(3) ? often : atoms);
};
const sequence = (depth) => {
  let out = "";
  for (let n = 1 + random(3); n > 0; n--) {
    const t = term(depth);
    if (t.endsWith("!") && t.length > 1) { out += t.slice(0, -1); continue; }
    out += t;
    if (random(5) < 2) out += pick(quantifiers);
  }
  return out;
};
function alternatives(depth) {
  let out = sequence(depth);
  while (random(5) === 0) out += "|" + (random(8) ? sequence(depth) : "");
  return out;
}
const pieces = ["a", "b", "c", "a", "b", "ab", "k", "s", "1", "-", " ", "\n", "\r", "\r\n", "\u2028", "A", "B", "K", "S", "\u212a", "\u017f", "é", "É", "ß", "ẞ", "å", "\u212b", "θ", "ϴ", "😀", "."];
const letters = ["a", "b", "c", "a", "b"];
const texts = (list) => {
  let out = "";
  for (let n = random(7); n > 0; n--) out += pick(list);
  return out;
};
const rows = [];
for (let i = 0; i < 3300; i++) {
  groups = 0;
  const pattern = alternatives(2);
  const flags = pick(["", "", "", "i", "i", "m", "s", "im", "u", "iu", "mu", "is"]);
  for (let n = 0; n < 2; n++) {
    let text = texts(random(2) ? letters : pieces);
    // V8 finds assertions in the middle of a pair, where ECMA-262 never looks.
    if (flags.includes("u") && /\\B|\(\?/.test(pattern)) text = text.replaceAll("😀", "-");
    let answer = null;
    try {
      const re = new RegExp(pattern, flags), m = re.exec(text);
      const all = [...text.matchAll(new RegExp(pattern, flags + "g"))];
      answer = [m && [m.index, ...m.map((x) => x ?? null)], all.map((m) => m.index + ":" + m.map((x) => x ?? "~").join("|")).join(";")];
    } catch { n = 1; }
    rows.push([pattern, flags, text, answer]);
  }
}
console.log("[" + rows.map((r) => JSON.stringify(r)).join(",\n") + "]");
