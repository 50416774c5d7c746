// Open-Meteo, weather forecast API (open-meteo.com/en/docs).
const { days: count } = safety.check(args, {
  latitude: { type: "number", minimum: -90, maximum: 90 },
  longitude: { type: "number", minimum: -180, maximum: 180 },
  days: { type: "integer", minimum: 1, maximum: 16, default: 3 },
});

const search = new URLSearchParams({
  latitude: String(latitude),
  longitude: String(longitude),
  forecast_days: String(count),
  timezone: timezone || "auto",
  daily:
    "temperature_2m_max,temperature_2m_min,precipitation_sum,precipitation_probability_max,wind_speed_10m_max,weather_code",
  hourly: "temperature_2m,precipitation_probability,weather_code",
});
const resp = await fetch(`https://api.open-meteo.com/v1/forecast?${search}`, {
  headers: { Accept: "application/json" },
  maxLength: 1_000_000,
});
// What it refuses, such as an unknown time zone, is a 400 with the reason.
if (resp.status === 400) {
  throw new Error(
    `Open-Meteo refused the request: ${resp.json()?.reason ?? "no reason given"}`,
  );
}
resp.check("Open-Meteo");

const forecast = resp.json();
if (!Array.isArray(forecast?.daily?.time)) {
  throw new Error("Open-Meteo answered without a forecast");
}
const hourly = {};
for (const [name, values] of Object.entries(forecast.hourly ?? {})) {
  hourly[name] = Array.isArray(values) ? values.slice(0, 24) : values;
}
return {
  latitude: forecast.latitude,
  longitude: forecast.longitude,
  timezone: forecast.timezone,
  daily: forecast.daily,
  hourly,
};
