// Nager.Date API v3, PublicHolidays (date.nager.at/swagger).
safety.check(args, { year: { type: "integer", minimum: 1975, maximum: 2100 } });
const country = (countryCode || "KR").trim().toUpperCase();
if (!/^[A-Z]{2}$/.test(country)) {
  throw new Error('countryCode must have two letters, such as "KR"');
}

const resp = await fetch(
  `https://date.nager.at/api/v3/PublicHolidays/${year}/${country}`,
  {
    headers: { Accept: "application/json" },
    maxLength: 500_000,
  },
);
// 204 is what it gives for a country of which it has no holidays.
if (resp.status === 404 || resp.status === 204) {
  return [];
}
resp.check("date.nager.at");

const days = resp.json();
if (!Array.isArray(days) || days.includes(null)) {
  throw new Error("date.nager.at answered without a list of holidays");
}
return days.map((day) => ({
  date: day.date,
  localName: day.localName,
  name: day.name,
  countryCode: day.countryCode,
  global: day.global === true,
  types: day.types ?? [],
}));
