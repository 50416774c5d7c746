// wallOf gives the parts of a time as the clocks of a zone show it.
const wallOf = (time, zone) => {
  let formatter;
  try {
    formatter = new Intl.DateTimeFormat("en-CA", {
      timeZone: zone,
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
      `unknown time zone "${zone}"; use an IANA name such as Asia/Seoul`,
    );
  }
  const wall = {};
  for (const { type, value } of formatter.formatToParts(new Date(time))) {
    wall[type] = Number(value);
  }
  // Some engines call midnight hour 24 of the day that begins.
  wall.hour %= 24;
  return wall;
};

const now = Date.now();
const wall = wallOf(now, (timeZone || "").trim() || "UTC");
const pad = (number, width = 2) => String(number).padStart(width, "0");
const millis = now % 1000;
const shown = Date.UTC(
  wall.year,
  wall.month - 1,
  wall.day,
  wall.hour,
  wall.minute,
  wall.second,
);
const minutes = Math.round((shown - (now - millis)) / 60_000);
const size = Math.abs(minutes);
return (
  `${pad(wall.year, 4)}-${pad(wall.month)}-${pad(wall.day)}` +
  `T${pad(wall.hour)}:${pad(wall.minute)}:${pad(wall.second)}.${pad(millis, 3)}` +
  `${minutes < 0 ? "-" : "+"}${pad(Math.floor(size / 60))}:${pad(size % 60)}`
);
