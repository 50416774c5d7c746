// Korea Meteorological Administration on data.go.kr, "getVilageFcst" of
// VilageFcstInfoService_2.0.
const issues = ["0200", "0500", "0800", "1100", "1400", "1700", "2000", "2300"];
safety.check(args, {
  baseTime: { enum: issues },
  baseDate: { format: "basic-date" },
});

// The grid is a Lambert conformal conic projection with the constants that
// the guide of the service gives.
const cell = (lat, lon) => {
  const rad = Math.PI / 180;
  const radius = 6371.00877 / 5; // of the earth, in cells of 5 km
  const [south, north, lat0, lon0] = [30 * rad, 60 * rad, 38 * rad, 126 * rad];
  const tan = (angle) => Math.tan(Math.PI / 4 + angle / 2);
  const n =
    Math.log(Math.cos(south) / Math.cos(north)) /
    Math.log(tan(north) / tan(south));
  const scale = (tan(south) ** n * Math.cos(south)) / n;
  const distance = (angle) => (radius * scale) / tan(angle) ** n;
  const theta = n * (lon * rad - lon0);
  const r = distance(lat * rad);
  return {
    nx: Math.floor(r * Math.sin(theta) + 43.5),
    ny: Math.floor(distance(lat0) - r * Math.cos(theta) + 136.5),
  };
};
let grid;
if (nx || ny) {
  grid = { nx: Number(nx), ny: Number(ny) };
} else {
  const lat = latitude ? Number(latitude) : 37.5665;
  const lon = longitude ? Number(longitude) : 126.978;
  if (!(lat >= 31 && lat <= 44) || !(lon >= 123 && lon <= 133)) {
    throw new Error(
      "latitude must be from 31 to 44 and longitude from 123 to 133: the service is for Korea",
    );
  }
  grid = cell(lat, lon);
}
const within = (value, most) =>
  Number.isInteger(value) && value >= 1 && value <= most;
if (!within(grid.nx, 149) || !within(grid.ny, 253)) {
  throw new Error(
    "nx must be from 1 to 149 and ny from 1 to 253, always both: the place is outside of the grid",
  );
}

// Korea is nine hours ahead; an issue is there ten minutes after its time.
const now = new Date(Date.now() + (9 * 60 - 10) * 60_000);
const clock = now.toISOString().slice(11, 16).replace(":", "");
const yesterday = new Date(now.getTime() - 86_400_000);
const digits = (date) => date.toISOString().slice(0, 10).replace(/-/g, "");
const issued = issues.filter((time) => time <= clock).at(-1);
// Before the first issue of a day, and of a time that is still to come, the
// newest is that of the day before; of a day that is given, its last one.
const time =
  baseTime ||
  (baseDate && baseDate < digits(now) ? "2300" : (issued ?? "2300"));
const date = baseDate || digits(time <= clock ? now : yesterday);

const ask = async (page) => {
  const search = new URLSearchParams({
    // data.go.kr shows each key in two forms, of which one is percent-encoded.
    serviceKey: dataGoKrKmaKey.replace(/%(?:2B|2F|3D)/gi, decodeURIComponent),
    dataType: "JSON",
    numOfRows: "1000",
    pageNo: String(page),
    base_date: date,
    base_time: time,
    nx: String(grid.nx),
    ny: String(grid.ny),
  });
  const resp = await fetch(
    `https://apis.data.go.kr/1360000/VilageFcstInfoService_2.0/getVilageFcst?${search}`,
    { maxLength: 2_000_000 },
  );
  const granted =
    "check DATA_GO_KR_KMA_KEY and that data.go.kr granted it for this service";
  resp.check("data.go.kr", { 401: granted, 403: granted });
  return safety.parser.dataGoKr(resp.text(), { advice: granted });
};

// A forecast is about a thousand values, so the rest may be on a second page.
const { items, totalCount } = await ask(1);
if (totalCount > items.length) {
  items.push(...(await ask(2)).items);
}
if (totalCount > items.length) {
  throw new Error(
    `data.go.kr gave ${items.length} of ${totalCount} values of the forecast`,
  );
}

// Each value of each hour is an entry of its own.
const hours = new Map();
for (const item of items.filter(Boolean)) {
  const hour = `${item.fcstDate}${item.fcstTime}`;
  if (!hours.has(hour)) {
    hours.set(hour, {});
  }
  hours.get(hour)[item.category] = item.fcstValue;
}
const sky = { 1: "clear", 3: "mostly cloudy", 4: "overcast" };
const kinds = ["none", "rain", "rain and snow", "snow", "shower"];
// At 900 and beyond, above or below 0, a value is one that is missing.
const number = (text) => {
  const value = Number(String(text ?? "").trim() || NaN);
  return Math.abs(value) < 900 ? value : null;
};
const forecasts = [...hours.keys()].sort().map((hour) => {
  const value = hours.get(hour);
  return {
    date: hour.slice(0, 8),
    time: hour.slice(8),
    temperature: number(value.TMP),
    sky: sky[value.SKY] ?? null,
    precipitationType: kinds[value.PTY] ?? null,
    precipitationProbability: number(value.POP),
    precipitation: value.PCP ?? null,
    snow: value.SNO ?? null,
    humidity: number(value.REH),
    windSpeed: number(value.WSD),
    minTemperature: number(value.TMN),
    maxTemperature: number(value.TMX),
  };
});
return {
  baseDate: date,
  baseTime: time,
  grid,
  count: forecasts.length,
  forecasts,
};
