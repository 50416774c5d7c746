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

// wallOf gives the parts of a time as the clocks of a zone show it.
const wallOf = (time, zone) => {
  let formatter;
  try {
    formatter = new Intl.DateTimeFormat("en-CA", {
      timeZone: zone,
      year: "numeric",
      month: "2-digit",
      day: "2-digit",
      weekday: "short",
      hour: "2-digit",
      minute: "2-digit",
      second: "2-digit",
      hour12: false,
    });
  } catch (error) {
    if (!(error instanceof RangeError)) {
      throw error;
    }
    throw new Error(
      `unknown time zone "${zone}"; use an IANA name such as Asia/Seoul`,
    );
  }
  const wall = {};
  for (const { type, value } of formatter.formatToParts(new Date(time))) {
    wall[type] = type === "weekday" ? value.slice(0, 3) : Number(value);
  }
  // Some engines call midnight hour 24 of the day that begins.
  wall.hour %= 24;
  return wall;
};

const zone = (timeZone || "").trim() || "UTC";
const time = readTime("text", text);
if (time < Date.parse("1000-01-01T00:00:00.000Z")) {
  throw new Error("years before 1000 are not supported");
}
const wall = wallOf(time, zone);
return {
  iso: new Date(time).toISOString(),
  epochMillis: time,
  year: wall.year,
  month: wall.month,
  day: wall.day,
  hour: wall.hour,
  minute: wall.minute,
  second: wall.second,
  weekday: wall.weekday,
  timeZone: zone,
};
