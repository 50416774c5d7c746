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
return text.replace(expression, replacement);
