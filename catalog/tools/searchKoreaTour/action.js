// TourAPI 4.0 of the Korea Tourism Organization on data.go.kr, "searchKeyword2".
if (keyword.trim() === "") {
  throw new Error("keyword must not be empty");
}
if (sigunguCode && !areaCode) {
  throw new Error("sigunguCode needs areaCode");
}
const paging = safety.check(args, {
  pageNo: { type: "integer", minimum: 1, maximum: 10_000, default: 1 },
  numOfRows: { type: "integer", minimum: 1, maximum: 100, default: 5 },
});
const code = { type: "integer", minimum: 1, maximum: 100_000 };
const filters = safety.check(args, {
  areaCode: code,
  sigunguCode: code,
  contentTypeId: code,
});

const search = new URLSearchParams({
  // data.go.kr shows each key in two forms, of which one is percent-encoded.
  serviceKey: dataGoKrTourKey.replace(/%(?:2B|2F|3D)/gi, decodeURIComponent),
  MobileOS: "ETC",
  MobileApp: "toolwarrant",
  _type: "json",
  keyword: keyword.trim(),
  numOfRows: String(paging.numOfRows),
  pageNo: String(paging.pageNo),
});
for (const [name, value] of Object.entries(filters)) {
  if (value) {
    search.set(name, String(value));
  }
}
const resp = await fetch(
  `https://apis.data.go.kr/B551011/KorService2/searchKeyword2?${search}`,
  {
    maxLength: 2_000_000,
  },
);
const fewer = "ask for fewer with numOfRows";
const granted =
  "check DATA_GO_KR_TOUR_KEY and that data.go.kr granted it for this service";
resp.check("data.go.kr", { 401: granted, 403: granted, truncated: fewer });
const found = safety.parser.dataGoKr(resp.text(), { advice: granted });
const items = found.items.filter(Boolean);

return {
  keyword: keyword.trim(),
  totalCount: found.totalCount ?? items.length,
  ...paging,
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
