const MILLIS = {
  milliseconds: 1,
  seconds: 1_000,
  minutes: 60_000,
  hours: 3_600_000,
  days: 86_400_000,
  weeks: 604_800_000,
};
const MONTHS = { months: 1, years: 12 };

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

// addMonths keeps the day, or takes the last one of a month that is shorter.
const addMonths = (time, months) => {
  const start = new Date(time);
  const moved = new Date(time);
  moved.setUTCDate(1);
  moved.setUTCMonth(start.getUTCMonth() + months);
  const last = new Date(
    Date.UTC(moved.getUTCFullYear(), moved.getUTCMonth() + 1, 0),
  );
  moved.setUTCDate(Math.min(start.getUTCDate(), last.getUTCDate()));
  return moved;
};

const units = [...Object.keys(MILLIS), ...Object.keys(MONTHS)];
const wanted = unit.trim().toLowerCase();
const name = units.find((known) => known === wanted || known === `${wanted}s`);
if (!name) {
  throw new Error(`unit must be one of ${units.join(", ")}, not "${unit}"`);
}

const time = readTime("text", text);
const moved = MONTHS[name]
  ? addMonths(time, amount * MONTHS[name])
  : new Date(time + amount * MILLIS[name]);
const year = moved.getUTCFullYear();
if (!(year >= 1 && year <= 9999)) {
  throw new Error("the result is outside the years 0001 to 9999");
}
return moved.toISOString();
