// USGS FDSN Event Web Service, query (earthquake.usgs.gov/fdsnws/event/1).
const magnitude = minMagnitude ?? 4.5;
const hours = lookbackHours ?? 24;
const count = limit ?? 20;
if (!(magnitude >= -1 && magnitude <= 10)) {
  throw new Error("minMagnitude must be from -1 to 10");
}
if (hours < 1 || hours > 720) {
  throw new Error("lookbackHours must be from 1 to 720");
}
if (count < 1 || count > 200) {
  throw new Error("limit must be from 1 to 200");
}

const search = new URLSearchParams({
  format: "geojson",
  starttime: new Date(Date.now() - hours * 3_600_000).toISOString(),
  minmagnitude: String(magnitude),
  limit: String(count),
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
