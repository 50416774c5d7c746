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

const pad = (number, width = 2) => String(number).padStart(width, "0");

// offsetOf gives the distance of the wall clock from UTC, such as +09:00.
const offsetOf = (time, wall) => {
  const shown = Date.UTC(
    wall.year,
    wall.month - 1,
    wall.day,
    wall.hour,
    wall.minute,
    wall.second,
  );
  const minutes = Math.round((shown - Math.floor(time / 1000) * 1000) / 60_000);
  const size = Math.abs(minutes);
  return `${minutes < 0 ? "-" : "+"}${pad(Math.floor(size / 60))}:${pad(size % 60)}`;
};

const time = readTime("text", text);
if (time < Date.parse("1000-01-01T00:00:00.000Z")) {
  throw new Error("years before 1000 are not supported");
}
const wall = wallOf(time, (timeZone || "").trim() || "UTC");
const hour12 = wall.hour % 12 || 12;
const FIELDS = {
  yyyy: () => pad(wall.year, 4),
  yy: () => pad(wall.year % 100),
  MM: () => pad(wall.month),
  M: () => String(wall.month),
  dd: () => pad(wall.day),
  d: () => String(wall.day),
  EEE: () => wall.weekday,
  HH: () => pad(wall.hour),
  H: () => String(wall.hour),
  hh: () => pad(hour12),
  h: () => String(hour12),
  a: () => (wall.hour < 12 ? "AM" : "PM"),
  mm: () => pad(wall.minute),
  m: () => String(wall.minute),
  ss: () => pad(wall.second),
  s: () => String(wall.second),
  SSS: () => pad(((time % 1000) + 1000) % 1000, 3),
  XXX: () => offsetOf(time, wall),
};

const layout = pattern || "yyyy-MM-dd HH:mm:ss";
if (layout.length > 200) {
  throw new Error("pattern must have at most 200 characters");
}
return layout.replace(
  /'((?:[^']|'')*)'|([A-Za-z])\2*|'/g,
  (token, quoted, letter) => {
    if (quoted !== undefined) {
      // Two quotes are one, inside of quotes as well as by themselves.
      return quoted === "" ? "'" : quoted.replaceAll("''", "'");
    }
    if (letter === undefined) {
      throw new Error("pattern has a quote that does not end");
    }
    if (!Object.hasOwn(FIELDS, token)) {
      throw new Error(
        `pattern has the unknown field "${token}"; there are ${Object.keys(FIELDS).join(", ")}`,
      );
    }
    return FIELDS[token]();
  },
);
