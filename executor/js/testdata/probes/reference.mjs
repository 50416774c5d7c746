// Runs the probes in this engine and prints the answers: for each probe what
// it gave, as JSON. With --check it compares with answers.json instead.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const probes = [];
let category = "";
for (const line of readFileSync(join(here, "probes.txt"), "utf8").split("\n")) {
  if (line.startsWith("== ")) category = line.slice(3);
  else if (line.startsWith("-- ")) probes.push({ name: line.slice(3), category, code: "", want: undefined });
  else if (probes.length === 0) continue;
  else if (line.startsWith("=> ")) probes.at(-1).want = line.slice(3);
  else if (line.startsWith("!! ")) continue;
  else probes.at(-1).code += line + "\n";
}

console.log = ((log) => (...args) => { if (args[0] === out) log(args[1]); })(console.log);
const out = {};
process.on("unhandledRejection", () => {});
const answers = {};
for (const p of probes) {
  let got;
  try {
    // A sloppy function, as the runtime makes it.
    const f = new Function("return async function(){" + p.code + "\n}")();
    got = JSON.stringify(await f()) ?? "null";
  } catch (e) {
    got = undefined;
  }
  const want = p.want === undefined ? got : JSON.stringify(JSON.parse(p.want));
  if (want === undefined) { console.error(p.name + ": has no answer"); process.exitCode = 1; }
  answers[p.name] = { want, reference: got === want };
}

if (process.argv.includes("--check")) {
  const known = JSON.parse(readFileSync(join(here, "answers.json"), "utf8"));
  // A newer engine may know more than the one that the answers are from.
  let changed = 0;
  for (const name of new Set([...Object.keys(known), ...Object.keys(answers)])) {
    const a = known[name], b = answers[name];
    if (!a || !b || a.want !== b.want || a.reference && !b.reference) { console.error(`${name}: stored ${JSON.stringify(a)}, now ${JSON.stringify(b)}`); changed++; }
  }
  console.log(out, `${Object.keys(known).length} answers compared, ${changed} differ`);
  process.exit(changed ? 1 : 0);
}
console.log(out, JSON.stringify(answers, null, 1));
process.exit(process.exitCode ?? 0);
