// Sunrise-sunset.org API, with formatted=0: times in ISO 8601, in UTC.
safety.check(args, {
  latitude: { type: "number", minimum: -90, maximum: 90 },
  longitude: { type: "number", minimum: -180, maximum: 180 },
  date: { format: "date" },
});
const zone = timezone || "UTC";
// An unknown zone is refused before anything is asked.
safety.time.zoned(0, zone);

const search = new URLSearchParams({
  lat: String(latitude),
  lng: String(longitude),
});
if (date) {
  search.set("date", date);
}
search.set("formatted", "0");
const resp = await fetch(`https://api.sunrise-sunset.org/json?${search}`, {
  headers: { Accept: "application/json" },
  maxLength: 100_000,
});
resp.check("sunrise-sunset.org");

const answer = resp.json();
if (answer?.status !== "OK" || !answer.results) {
  throw new Error(
    `sunrise-sunset.org gave no times: ${answer?.status ?? "no status"}`,
  );
}
const local = (text) => {
  const time = new Date(text);
  // What does not happen that day is given as a moment of 1970.
  if (Number.isNaN(time.getTime()) || time.getTime() < 86_400_000) {
    return null;
  }
  return safety.time.zoned(time, zone).iso.replace(".000", "");
};
const length = answer.results.day_length;
const two = (n) => String(Math.floor(n)).padStart(2, "0");
return {
  sunrise: local(answer.results.sunrise),
  sunset: local(answer.results.sunset),
  solarNoon: local(answer.results.solar_noon),
  dayLength: Number.isFinite(length)
    ? `${two(length / 3600)}:${two((length / 60) % 60)}:${two(length % 60)}`
    : null,
  civilTwilightBegin: local(answer.results.civil_twilight_begin),
  civilTwilightEnd: local(answer.results.civil_twilight_end),
  timezone: zone,
};
