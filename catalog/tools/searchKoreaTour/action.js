// TourAPI 4.0 of the Korea Tourism Organization on data.go.kr, "searchKeyword2".
const whole = (text, name, fallback, most) => {
  const value = text ? Number(text) : fallback;
  if (!Number.isInteger(value) || value < 1 || value > most) {
    throw new Error(`${name} must be a whole number from 1 to ${most}`);
  }
  return value;
};
if (keyword.trim() === "") {
  throw new Error("keyword must not be empty");
}
if (sigunguCode && !areaCode) {
  throw new Error("sigunguCode needs areaCode");
}
const rows = whole(numOfRows, "numOfRows", 5, 100);
const page = whole(pageNo, "pageNo", 1, 10_000);
// data.go.kr shows each key in two forms, of which one is percent-encoded.
const key = dataGoKrTourKey.replace(/%(?:2B|2F|3D)/gi, decodeURIComponent);

const search = new URLSearchParams({
  serviceKey: key,
  MobileOS: "ETC",
  MobileApp: "toolwarrant",
  _type: "json",
  keyword: keyword.trim(),
  numOfRows: String(rows),
  pageNo: String(page),
});
for (const [name, value] of Object.entries({
  areaCode,
  sigunguCode,
  contentTypeId,
})) {
  if (!value) {
    continue;
  }
  search.set(name, String(whole(value, name, 1, 100_000)));
}
const resp = await fetch(
  `https://apis.data.go.kr/B551011/KorService2/searchKeyword2?${search}`,
  {
    maxLength: 2_000_000,
  },
);
const granted =
  "check DATA_GO_KR_TOUR_KEY and that data.go.kr granted it for this service";
resp.check("data.go.kr", {
  401: granted,
  403: granted,
  truncated: "ask for fewer with numOfRows",
});
// What the gateway itself refuses is a 200 in XML, whatever form was asked for.
const refusal = /^\s*<.*<(?:errMsg|returnAuthMsg)>([^<]*)</s.exec(resp.text());
if (refusal) {
  const advice = /KEY|ACCESS/.test(refusal[1]) ? `; ${granted}` : "";
  throw new Error(`data.go.kr refused the request: ${refusal[1]}${advice}`);
}
// A parameter that it does not take is answered without the envelope.
const answer = resp.json();
const { header, body } = answer?.response ?? {};
if (header?.resultCode !== "0000" && header?.resultCode !== "03") {
  const reason = header?.resultMsg ?? answer?.resultMsg ?? "no result code";
  throw new Error(`TourAPI refused the request: ${reason}`);
}
// One entry may come without a list around it, none as an empty text.
const items = [body?.items?.item ?? (body?.items || [])].flat().filter(Boolean);

return {
  keyword: keyword.trim(),
  totalCount: body?.totalCount ?? items.length,
  pageNo: page,
  numOfRows: rows,
  items: items.map((item) => ({
    contentId: item.contentid,
    contentTypeId: item.contenttypeid ?? null,
    title: item.title,
    address: [item.addr1, item.addr2].filter(Boolean).join(" ") || null,
    phone: item.tel || null,
    longitude: item.mapx ? Number(item.mapx) : null,
    latitude: item.mapy ? Number(item.mapy) : null,
    imageUrl: item.firstimage || null,
    modifiedAt: item.modifiedtime || null,
  })),
};
