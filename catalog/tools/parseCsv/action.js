// Models often write the tab as an escape or by its name.
const separators = { "\\t": "\t", tab: "\t" };
const separator = separators[delimiter] || delimiter || ",";
if (separator.length !== 1 || /["\r\n]/.test(separator)) {
  throw new Error(
    "delimiter must be one character other than a quote or line break",
  );
}
return safety.parser.csv(text, {
  header: header !== false,
  delimiter: separator,
});
