// REST Countries v3.1, /name/{name}.
const wanted = name.trim();
// Dots alone would be path segments, not a name.
if (wanted === "" || wanted.length > 100 || /^\.+$/.test(wanted)) {
  throw new Error("name must be the name of a country or a part of it");
}

const resp = await fetch(
  `https://restcountries.com/v3.1/name/${encodeURIComponent(wanted)}`,
  {
    headers: { Accept: "application/json" },
    maxLength: 2_000_000,
  },
);
if (resp.status === 404) {
  return [];
}
resp.check("restcountries.com", { truncated: "use a longer name" });

const found = resp.json();
if (!Array.isArray(found) || found.includes(null)) {
  throw new Error("restcountries.com answered without a list of countries");
}
return found.map((country) => ({
  name: country.name?.common ?? null,
  officialName: country.name?.official ?? null,
  cca2: country.cca2,
  cca3: country.cca3,
  capital: country.capital ?? [],
  region: country.region ?? null,
  subregion: country.subregion ?? null,
  population: country.population ?? null,
  areaKm2: country.area ?? null,
  languages: Object.values(country.languages ?? {}),
  currencies: Object.keys(country.currencies ?? {}),
  timezones: country.timezones ?? [],
}));
