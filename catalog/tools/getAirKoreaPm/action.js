// AirKorea on data.go.kr, "getCtprvnRltmMesureDnsty" (measurements by province).
const provinces =
  "전국 서울 부산 대구 인천 광주 대전 울산 경기 강원 충북 충남 전북 전남 경북 경남 제주 세종".split(
    " ",
  );
const province = sidoName.trim();
if (!provinces.includes(province)) {
  throw new Error(`sidoName must be one of ${provinces.join(", ")}`);
}
const rows = Number(numOfRows || 20);
if (!Number.isInteger(rows) || rows < 1 || rows > 700) {
  throw new Error("numOfRows must be a whole number from 1 to 700");
}
// data.go.kr shows each key in two forms, of which one is percent-encoded.
const key = dataGoKrAirKey.replace(/%(?:2B|2F|3D)/gi, decodeURIComponent);

const search = new URLSearchParams({
  serviceKey: key,
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
const granted =
  "check DATA_GO_KR_AIR_KEY and that data.go.kr granted it for this service";
resp.check("data.go.kr", {
  401: granted,
  403: granted,
  truncated: "ask for fewer with numOfRows",
});
// What the gateway itself refuses is a 200 in XML, whatever form was asked for.
const xml = /^\s*<.*<(?:errMsg|returnAuthMsg)>([^<]*)</s.exec(resp.text());
const { header, body } = xml ? {} : (resp.json()?.response ?? {});
// 03 is the word for "no data".
if (header?.resultCode !== "00" && header?.resultCode !== "03") {
  const why = xml?.[1] ?? header?.resultMsg ?? "no result code";
  const advice = /KEY|ACCESS/.test(why) ? `; ${granted}` : "";
  throw new Error(`data.go.kr refused the request: ${why}${advice}`);
}
// One entry may come without a list around it, none as an empty text.
const items = [body?.items?.item ?? (body?.items || [])].flat().filter(Boolean);

// Numbers are texts; what was not measured is a dash.
const number = (text) => {
  const value = text ? Number(text) : NaN;
  return Number.isFinite(value) ? value : null;
};
return {
  sidoName: province,
  totalCount: body?.totalCount ?? items.length,
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
