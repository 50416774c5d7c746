// readTime gives the milliseconds since 1970 of an ISO 8601 time.
const readTime = (label, source) => {
  const match =
    /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?(Z|[+-]\d{2}:\d{2})?)?$/i.exec(
      source.trim(),
    );
  if (!match) {
    throw new Error(
      `${label} must be an ISO 8601 time such as 2026-01-15T10:30:00Z, not "${source}"`,
    );
  }
  const [, date, minutes, seconds, fraction, zone] = match;
  const millis = (fraction || "").padEnd(3, "0").slice(0, 3);
  const time = Date.parse(
    `${date}T${minutes || "00:00"}:${seconds || "00"}.${millis}${(zone || "Z").toUpperCase()}`,
  );
  // Engines roll 30 February over into March; a calendar does not.
  const midnight = Date.parse(`${date}T00:00:00.000Z`);
  if (
    Number.isNaN(time) ||
    new Date(midnight).toISOString().slice(0, 10) !== date
  ) {
    throw new Error(`${label} "${source}" is not a time that exists`);
  }
  return time;
};

if (!title.trim()) {
  throw new Error("title must not be empty");
}
const begins = readTime("start", start);
const ends = readTime("end", end);
if (ends <= begins) {
  throw new Error("end must be after start");
}
const draft = {
  type: "calendar",
  title,
  start: new Date(begins).toISOString(),
  end: new Date(ends).toISOString(),
};
if (location) {
  draft.location = location;
}
if (description) {
  draft.description = description;
}

// The code fence tells the client to show the draft to its user. Backticks
// are written as escapes, so that no text can end the fence.
const json = JSON.stringify(draft).replaceAll("`", "\\u0060");
return `The event is ready to be checked and added to the calendar.\n\n\`\`\`saip-action-return-direct\n${json}\n\`\`\``;
