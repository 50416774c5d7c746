const MILLIS = {
  milliseconds: 1,
  seconds: 1_000,
  minutes: 60_000,
  hours: 3_600_000,
  days: 86_400_000,
  weeks: 604_800_000,
};
const MONTHS = { months: 1, years: 12 };

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

const time = safety.time.parse(text, "text");
const moved = MONTHS[name]
  ? addMonths(time, amount * MONTHS[name])
  : new Date(time + amount * MILLIS[name]);
const year = moved.getUTCFullYear();
if (!(year >= 1 && year <= 9999)) {
  throw new Error("the result is outside the years 0001 to 9999");
}
return moved.toISOString();
