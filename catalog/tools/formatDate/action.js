const pad = (number, width = 2) => String(number).padStart(width, "0");

const time = safety.time.parse(text, "text");
const wall = safety.time.zoned(time, timeZone);
if (wall.year < 1000 || wall.year > 9999) {
  throw new Error("only years 1000 to 9999 are supported");
}
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
  SSS: () => pad(wall.millisecond, 3),
  XXX: () => wall.offset,
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
