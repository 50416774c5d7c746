// Models often write the tab as an escape or by its name.
const separator = ["\\t", "tab"].includes(delimiter) ? "\t" : delimiter || ",";
if (separator.length !== 1 || /["\r\n]/.test(separator)) {
  throw new Error(
    "delimiter must be one character other than a quote or line break",
  );
}
const options = { delimiter: separator };
const rows = safety.parser.csv(text, options);
if (header === false) {
  return rows;
}
const width = rows[0]?.length;
const wide = rows.findIndex((row) => row.slice(width).some(Boolean));
if (wide >= 0) {
  throw new Error(
    `row ${wide + 1} has values beyond the ${width} columns that the first row names; header=false gives them`,
  );
}
return safety.parser.csv(text, { ...options, header: true });
