const MILLIS = {
  milliseconds: 1,
  seconds: 1_000,
  minutes: 60_000,
  hours: 3_600_000,
  days: 86_400_000,
  weeks: 604_800_000,
};

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

const wanted = (unit || "days").toLowerCase();
const name = Object.keys(MILLIS).find(
  (known) => known === wanted || known === `${wanted}s`,
);
if (!name) {
  throw new Error(
    `unit must be one of ${Object.keys(MILLIS).join(", ")}, not "${unit}"`,
  );
}
return (readTime("b", b) - readTime("a", a)) / MILLIS[name];
