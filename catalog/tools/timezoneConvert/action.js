const time = safety.time.parse(text, "text");
if (time < Date.parse("1000-01-01T00:00:00.000Z")) {
  throw new Error("years before 1000 are not supported");
}
if (!toTimeZone.trim()) {
  throw new Error("toTimeZone must not be empty");
}
return safety.time.zoned(time, toTimeZone).iso;
