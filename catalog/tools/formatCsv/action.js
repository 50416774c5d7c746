// Models often write the tab as an escape or by its name.
const separator = ["\\t", "tab"].includes(delimiter) ? "\t" : delimiter || ",";
if (separator.length !== 1 || /["\r\n]/.test(separator)) {
  throw new Error(
    "delimiter must be one character other than a quote or line break",
  );
}

const kindOf = (row) => {
  if (row === null || typeof row !== "object") {
    throw new Error(
      `rows must hold objects or arrays, not ${JSON.stringify(row)}`,
    );
  }
  return Array.isArray(row) ? "array" : "object";
};
const kinds = new Set(rows.map(kindOf));
if (kinds.size > 1) {
  throw new Error("rows must be all objects or all arrays, not both");
}

const columns = (header || []).map(String);
const objects = kinds.has("object");
if (objects && columns.length === 0) {
  columns.push(...new Set(rows.flatMap(Object.keys)));
}

const cell = (value) => {
  if (value === null || value === undefined) {
    return "";
  }
  const text =
    typeof value === "object" ? JSON.stringify(value) : String(value);
  const quoted =
    text.includes(separator) || /["\r\n]/.test(text) || text !== text.trim();
  return quoted ? `"${text.replaceAll('"', '""')}"` : text;
};
// A line without anything would be none to those who read it.
const line = (values) =>
  values.map(cell).join(separator) || (values.length > 0 ? '""' : "");

const lines = columns.length > 0 ? [line(columns)] : [];
for (const row of rows) {
  lines.push(
    line(
      objects
        ? columns.map((name) =>
            Object.hasOwn(row, name) ? row[name] : undefined,
          )
        : row,
    ),
  );
}
return lines.join("\n");
