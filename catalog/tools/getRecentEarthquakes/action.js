// USGS FDSN Event Web Service, query (earthquake.usgs.gov/fdsnws/event/1).
const asked = safety.check(args, {
  minMagnitude: { type: "number", minimum: -1, maximum: 10, default: 4.5 },
  lookbackHours: { type: "integer", minimum: 1, maximum: 720, default: 24 },
  limit: { type: "integer", minimum: 1, maximum: 200, default: 20 },
});

const search = new URLSearchParams({
  format: "geojson",
  starttime: new Date(
    Date.now() - asked.lookbackHours * 3_600_000,
  ).toISOString(),
  minmagnitude: String(asked.minMagnitude),
  limit: String(asked.limit),
  orderby: "time",
});
const resp = await fetch(
  `https://earthquake.usgs.gov/fdsnws/event/1/query?${search}`,
  {
    headers: { Accept: "application/json" },
    maxLength: 1_000_000,
  },
);
// 204 is the service's word for no event at all.
if (resp.status === 204) {
  return [];
}
resp.check("the USGS", { truncated: "ask for a smaller limit" });

const features = resp.json()?.features;
if (!Array.isArray(features) || features.includes(null)) {
  throw new Error("the USGS answered without a list of events");
}
return features.map(({ id, properties, geometry }) => {
  const [longitude, latitude, depthKm] = geometry?.coordinates ?? [];
  return {
    id,
    magnitude: properties?.mag ?? null,
    place: properties?.place ?? null,
    time: Number.isFinite(properties?.time)
      ? new Date(properties.time).toISOString()
      : null,
    latitude: latitude ?? null,
    longitude: longitude ?? null,
    depthKm: depthKm ?? null,
    tsunami: properties?.tsunami === 1,
    url: properties?.url ?? null,
  };
});
