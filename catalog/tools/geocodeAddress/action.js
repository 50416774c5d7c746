// Nominatim, /search (nominatim.org/release-docs). Its policy asks for a
// User-Agent that names the application.
if (address.trim() === "" || address.length > 500) {
  throw new Error("address must have from 1 to 500 characters");
}
const { limit: count } = safety.check(args, {
  limit: { type: "integer", minimum: 1, maximum: 40, default: 3 },
});

const search = new URLSearchParams({
  q: address.trim(),
  format: "json",
  limit: String(count),
  addressdetails: "1",
});
const resp = await fetch(
  `https://nominatim.openstreetmap.org/search?${search}`,
  {
    headers: { Accept: "application/json", "User-Agent": "toolwarrant" },
    maxLength: 1_000_000,
  },
);
if (resp.status === 403 || resp.status === 429) {
  throw new Error(
    `Nominatim refused the request (HTTP status ${resp.status}); it takes one request a second`,
  );
}
resp.check("Nominatim", { truncated: "ask for a smaller limit" });

const places = resp.json();
if (!Array.isArray(places) || places.includes(null)) {
  throw new Error("Nominatim answered without a list of places");
}
return places.map((place) => ({
  displayName: place.display_name,
  latitude: Number(place.lat),
  longitude: Number(place.lon),
  category: place.class ?? null,
  type: place.type ?? null,
  importance: place.importance ?? null,
  address: place.address ?? {},
}));
