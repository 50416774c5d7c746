const time = safety.time.parse(text, "text");
if (!toTimeZone.trim()) {
  throw new Error("toTimeZone must not be empty");
}
const { year, iso } = safety.time.zoned(time, toTimeZone);
if (year < 1000 || year > 9999) {
  throw new Error("only years 1000 to 9999 are supported");
}
return iso;
