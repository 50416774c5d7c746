// Upstream: wttr.in, JSON format "j1" (https://github.com/chubin/wttr.in).
const place = (location || "").trim();
// Dots alone would be path segments, not a place.
if (place.length > 200 || /^\.+$/.test(place)) {
  throw new Error("location must be the name of a place or its coordinates");
}

const resp = await fetch(
  `https://wttr.in/${encodeURIComponent(place)}?format=j1`,
  { headers: { Accept: "application/json" }, maxLength: 1_000_000 },
);
if (resp.status === 404) {
  throw new Error(`wttr.in knows no place called "${place}"`);
}
resp.check("wttr.in");

const report = resp.json();
const now = report?.current_condition?.[0];
if (!now) {
  throw new Error("wttr.in answered without current conditions");
}
const area = report.nearest_area?.[0];
const names = [area?.areaName, area?.country]
  .map((list) => list?.[0]?.value)
  .filter(Boolean);

// The upstream writes numbers as text; one that is missing becomes null.
const number = (text) => {
  const value = Number(String(text ?? "").trim() || NaN);
  return Number.isFinite(value) ? value : null;
};
return {
  location: place || names.join(", ") || null,
  tempC: number(now.temp_C),
  humidity: number(now.humidity),
  windSpeed: number(now.windspeedKmph),
  windDirection: now.winddir16Point || null,
};
