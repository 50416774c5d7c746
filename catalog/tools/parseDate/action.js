const zone = (timeZone || "").trim() || "UTC";
const time = safety.time.parse(text, "text");
if (time < Date.parse("1000-01-01T00:00:00.000Z")) {
  throw new Error("years before 1000 are not supported");
}
const wall = safety.time.zoned(time, zone);
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
