const MILLIS = {
  milliseconds: 1,
  seconds: 1_000,
  minutes: 60_000,
  hours: 3_600_000,
  days: 86_400_000,
  weeks: 604_800_000,
};

const wanted = (unit || "days").toLowerCase();
const name = Object.keys(MILLIS).find(
  (known) => known === wanted || known === `${wanted}s`,
);
if (!name) {
  throw new Error(
    `unit must be one of ${Object.keys(MILLIS).join(", ")}, not "${unit}"`,
  );
}
return (safety.time.parse(b, "b") - safety.time.parse(a, "a")) / MILLIS[name];
