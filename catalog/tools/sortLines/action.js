const key = (line) => (caseInsensitive ? line.toLowerCase() : line);
const compare = (one, other) => one.key.localeCompare(other.key);
return text
  .split(/\r\n|\n/)
  .map((line) => ({ line, key: key(line) }))
  .sort(reverse ? (one, other) => compare(other, one) : compare)
  .map(({ line }) => line)
  .join("\n");
