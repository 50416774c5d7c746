// AirKorea on data.go.kr, "getCtprvnRltmMesureDnsty" (measurements by province).
const provinces =
  "전국 서울 부산 대구 인천 광주 대전 울산 경기 강원 충북 충남 전북 전남 경북 경남 제주 세종".split(
    " ",
  );
const province = sidoName.trim();
if (!provinces.includes(province)) {
  throw new Error(`sidoName must be one of ${provinces.join(", ")}`);
}
const { numOfRows: rows } = safety.check(args, {
  numOfRows: { type: "integer", minimum: 1, maximum: 700, default: 20 },
});

const search = new URLSearchParams({
  // data.go.kr shows each key in two forms, of which one is percent-encoded.
  serviceKey: dataGoKrAirKey.replace(/%(?:2B|2F|3D)/gi, decodeURIComponent),
  returnType: "json",
  numOfRows: String(rows),
  pageNo: "1",
  sidoName: province,
  ver: "1.3",
});
const resp = await fetch(
  `https://apis.data.go.kr/B552584/ArpltnInforInqireSvc/getCtprvnRltmMesureDnsty?${search}`,
  { maxLength: 2_000_000 },
);
const fewer = "ask for fewer with numOfRows";
const granted =
  "check DATA_GO_KR_AIR_KEY and that data.go.kr granted it for this service";
resp.check("data.go.kr", { 401: granted, 403: granted, truncated: fewer });
const found = safety.parser.dataGoKr(resp.text(), { advice: granted });
const items = found.items.filter(Boolean);

// Numbers are texts; what was not measured is a dash.
const number = (text) => {
  const value = text ? Number(text) : NaN;
  return Number.isFinite(value) ? value : null;
};
return {
  sidoName: province,
  totalCount: found.totalCount ?? items.length,
  stations: items.map((item) => ({
    station: item.stationName,
    measuredAt: item.dataTime ?? null,
    pm10: number(item.pm10Value),
    pm25: number(item.pm25Value),
    pm10Grade: number(item.pm10Grade),
    pm25Grade: number(item.pm25Grade),
    o3: number(item.o3Value),
    no2: number(item.no2Value),
    so2: number(item.so2Value),
    co: number(item.coValue),
    airQualityIndex: number(item.khaiValue),
  })),
};
