const shape =
  /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?(Z|[+-]\d{2}:\d{2})?)?$/i;
const match = shape.exec(text.trim());
if (!match) {
  throw new Error(
    `text must be an ISO 8601 time such as 2026-01-15T10:30:00Z, not "${text}"`,
  );
}
const [, date, minutes, seconds, fraction, zone] = match;
const clock = `${minutes || "00:00"}:${seconds || "00"}`;
const millis = (fraction || "").padEnd(3, "0").slice(0, 3);
const instant = Date.parse(
  `${date}T${clock}.${millis}${(zone || "Z").toUpperCase()}`,
);
// Engines roll 30 February over into March; a calendar does not.
const midnight = new Date(`${date}T00:00:00.000Z`);
if (
  Number.isNaN(instant) ||
  Number.isNaN(midnight.getTime()) ||
  midnight.toISOString().slice(0, 10) !== date
) {
  throw new Error(`"${text}" is not a time that exists`);
}
if (Number(date.slice(0, 4)) < 1000) {
  throw new Error("years before 1000 are not supported");
}

let formatter;
try {
  formatter = new Intl.DateTimeFormat("en-CA", {
    timeZone: toTimeZone.trim(),
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
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
    `unknown time zone "${toTimeZone}"; use an IANA name such as Asia/Seoul`,
  );
}
const wall = {};
for (const part of formatter.formatToParts(new Date(instant))) {
  wall[part.type] = Number(part.value);
}
// Some engines call midnight hour 24 of the day that begins.
wall.hour %= 24;

const pad = (number, width = 2) => String(number).padStart(width, "0");
const wallSeconds =
  Date.UTC(
    wall.year,
    wall.month - 1,
    wall.day,
    wall.hour,
    wall.minute,
    wall.second,
  ) / 1000;
const offset = wallSeconds - Math.floor(instant / 1000);
const size = Math.abs(offset);
const sign = offset < 0 ? "-" : "+";
// Local mean times before standard time have offsets with seconds.
const odd = size % 60 === 0 ? "" : `:${pad(size % 60)}`;
return (
  `${pad(wall.year, 4)}-${pad(wall.month)}-${pad(wall.day)}` +
  `T${pad(wall.hour)}:${pad(wall.minute)}:${pad(wall.second)}.${millis}` +
  `${sign}${pad(Math.floor(size / 3600))}:${pad(Math.floor(size / 60) % 60)}${odd}`
);
