const MONTHS = "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split(" ");
const WEEKDAYS = "SUN MON TUE WED THU FRI SAT".split(" ");
const MACROS = {
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * 0",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@hourly": "0 * * * *",
};

// readField gives the sorted values that one field allows. Names count up
// from min, and a weekday may also be 7, which is Sunday again.
const readField = (source, label, min, max, names) => {
  const bad = (why) => new Error(`${label} field "${source}": ${why}`);
  const readValue = (token) => {
    const index = names.indexOf(token.toUpperCase());
    if (index >= 0) {
      return index + min;
    }
    if (!/^\d{1,4}$/.test(token)) {
      throw bad(`"${token}" is not a value`);
    }
    const value = Number(token);
    if (value < min || value > max) {
      throw bad(`${value} is outside ${min}-${max}`);
    }
    return value;
  };
  const allowed = new Set();
  for (const item of source.split(",")) {
    const [range, step, ...rest] = item.split("/");
    if (rest.length > 0 || (step !== undefined && !/^\d{1,4}$/.test(step))) {
      throw bad(`"${item}" is not a range with a step`);
    }
    const stride = step === undefined ? 1 : Number(step);
    if (stride === 0) {
      throw bad("a step must be at least 1");
    }
    let from = min;
    let to = max;
    if (range !== "*") {
      const ends = range.split("-");
      if (ends.length > 2) {
        throw bad(`"${range}" is not a range`);
      }
      from = readValue(ends[0]);
      // "5/15" reads as "from 5 on, every 15".
      to = ends.length === 2 ? readValue(ends[1]) : step ? max : from;
      if (to === 0 && from > 0 && max === 7) {
        to = 7; // "FRI-SUN"
      }
      if (from > to) {
        throw bad(`"${range}" runs backwards`);
      }
    }
    for (let value = from; value <= to; value += stride) {
      allowed.add(value);
    }
  }
  return [...allowed].sort((a, b) => a - b);
};

const trimmed = expression.trim();
const macro = trimmed.toLowerCase();
const fields = (Object.hasOwn(MACROS, macro) ? MACROS[macro] : trimmed).split(
  /\s+/,
);
if (fields.length !== 5) {
  throw new Error(
    "expression must have five fields: minute hour day-of-month month day-of-week",
  );
}
const minutes = readField(fields[0], "minute", 0, 59, []);
const hours = readField(fields[1], "hour", 0, 23, []);
const monthDays = readField(fields[2], "day-of-month", 1, 31, []);
const months = readField(fields[3], "month", 1, 12, MONTHS);
const weekdays = new Set(
  readField(fields[4], "day-of-week", 0, 7, WEEKDAYS).map((day) => day % 7),
);

const { count: wanted } = safety.check(args, {
  count: { type: "integer", minimum: 1, maximum: 100, default: 5 },
});

const start = from ? safety.time.parse(from, "from") : Date.now();
const firstYear = new Date(start).getUTCFullYear();
if (firstYear < 1000 || firstYear > 9999) {
  throw new Error("from must be in the years 1000 to 9999");
}

// Classic cron: when both day fields are restricted, either may match; a
// field that begins with "*" is not a restriction, so then both must.
const either = !fields[2].startsWith("*") && !fields[4].startsWith("*");
const daysOf = (year, month) => {
  const length = new Date(Date.UTC(year, month, 0)).getUTCDate();
  const firstWeekday = new Date(Date.UTC(year, month - 1, 1)).getUTCDay();
  const weekdayOf = (day) => (firstWeekday + day - 1) % 7;
  if (!either) {
    return monthDays.filter(
      (day) => day <= length && weekdays.has(weekdayOf(day)),
    );
  }
  const days = [];
  for (let day = 1; day <= length; day++) {
    if (monthDays.includes(day) || weekdays.has(weekdayOf(day))) {
      days.push(day);
    }
  }
  return days;
};

// The search skips from one possible month to the next. Days and weekdays of
// the calendar repeat after 400 years: what has not matched by then never will.
const firstMonth = new Date(start).getUTCMonth();
const found = [];
for (
  let year = firstYear, last = year;
  year <= Math.min(last + 400, 9999);
  year++
) {
  for (const month of months) {
    if (year === firstYear && month <= firstMonth) {
      continue;
    }
    for (const day of daysOf(year, month)) {
      const midnight = Date.UTC(year, month - 1, day);
      if (midnight + 86_400_000 <= start) {
        continue;
      }
      for (const hour of hours) {
        const hourStart = midnight + hour * 3_600_000;
        if (hourStart + 3_600_000 <= start) {
          continue;
        }
        for (const minute of minutes) {
          const time = hourStart + minute * 60_000;
          if (time <= start) {
            continue;
          }
          found.push(new Date(time).toISOString());
          if (found.length === wanted) {
            return found;
          }
          last = year;
        }
      }
    }
  }
}
throw new Error(
  found.length > 0 || firstYear > 9599
    ? `"${expression}" does not fire ${wanted} times before the year 10000`
    : `"${expression}" never fires: no such day exists`,
);
