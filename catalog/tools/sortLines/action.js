const key = (line) => (caseInsensitive ? line.toLowerCase() : line);
const compare = (one, other) => one.key.localeCompare(other.key);
// The line end of the last line begins no other.
const [end] = /\r?\n$/.exec(text) ?? [""];
const sorted = text
  .slice(0, text.length - end.length)
  .split(/\r\n|\n/)
  .map((line) => ({ line, key: key(line) }))
  .sort(reverse ? (one, other) => compare(other, one) : compare)
  .map(({ line }) => line)
  .join("\n");
return end ? `${sorted}\n` : sorted;
