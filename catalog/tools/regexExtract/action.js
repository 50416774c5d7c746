const MAX_MATCHES = 10_000;

const checked = [...new Set(flags || "g")].join("");
if (!/^[gimsuy]*$/.test(checked) || checked.length !== (flags || "g").length) {
  throw new Error(
    `flags must be letters of "gimsuy", each at most once, not "${flags}"`,
  );
}
let expression;
try {
  expression = new RegExp(pattern, checked);
} catch (error) {
  if (!(error instanceof SyntaxError)) {
    throw error;
  }
  throw new Error(`pattern is not a regular expression: ${error.message}`);
}

const describe = (match) => ({
  match: match[0],
  groups: Array.from(match.slice(1), (group) => group ?? null),
  index: match.index,
});
if (!expression.global) {
  const match = expression.exec(text);
  return match ? [describe(match)] : [];
}
const found = [];
for (const match of text.matchAll(expression)) {
  if (found.length === MAX_MATCHES) {
    throw new Error(`there are more than ${MAX_MATCHES} matches`);
  }
  found.push(describe(match));
}
return found;
