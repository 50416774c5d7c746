// Ministry of Food and Drug Safety on data.go.kr, "getMdcinPrductItem02" of
// MdcinPrductPrmsnInfoService02.
if (![itemName, entpName, itemSeq].some((text) => text && text.trim())) {
  throw new Error("give at least one of itemName, entpName and itemSeq");
}
const rows = Number(numOfRows || 5);
const page = Number(pageNo || 1);
const within = (n, most) => Number.isInteger(n) && n >= 1 && n <= most;
if (!within(rows, 100) || !within(page, 10_000)) {
  throw new Error(
    "numOfRows must be a whole number from 1 to 100 and pageNo one from 1 to 10000",
  );
}
// data.go.kr shows each key in two forms, of which one is percent-encoded.
const key = dataGoKrDrugKey.replace(/%(?:2B|2F|3D)/gi, decodeURIComponent);

const search = new URLSearchParams({
  serviceKey: key,
  type: "json",
  numOfRows: String(rows),
  pageNo: String(page),
});
const filters = { item_name: itemName, entp_name: entpName, item_seq: itemSeq };
for (const [name, value] of Object.entries(filters)) {
  if (value && value.trim()) {
    search.set(name, value.trim());
  }
}
const resp = await fetch(
  `https://apis.data.go.kr/1471000/MdcinPrductPrmsnInfoService02/getMdcinPrductItem02?${search}`,
  { maxLength: 5_000_000 },
);
const granted =
  "check DATA_GO_KR_DRUG_KEY and that data.go.kr granted it for this service";
resp.check("data.go.kr", {
  401: granted,
  403: granted,
  truncated: "ask for fewer with numOfRows",
});
// What the gateway itself refuses is a 200 in XML, whatever form was asked for.
const xml = /^\s*<.*<(?:errMsg|returnAuthMsg)>([^<]*)</s.exec(resp.text());
// This service has no "response" around its answer; others do.
const answer = xml ? {} : resp.json();
const { header, body } = answer?.response ?? answer ?? {};
// 03 is the word for "no data".
if (header?.resultCode !== "00" && header?.resultCode !== "03") {
  const why = xml?.[1] ?? header?.resultMsg ?? "no result code";
  const advice = /KEY|ACCESS/.test(why) ? `; ${granted}` : "";
  throw new Error(`data.go.kr refused the request: ${why}${advice}`);
}
// One entry may come without a list around it, none as an empty text.
const items = [body?.items?.item ?? (body?.items || [])].flat().filter(Boolean);

return {
  totalCount: body?.totalCount ?? items.length,
  pageNo: page,
  numOfRows: rows,
  items: items.map((item) => ({
    itemSeq: item.ITEM_SEQ,
    itemName: item.ITEM_NAME,
    company: item.ENTP_NAME ?? null,
    permitDate: item.ITEM_PERMIT_DATE ?? null,
    prescription: item.ETC_OTC_CODE ?? null,
    appearance: item.CHART ?? null,
    ingredients: item.MATERIAL_NAME ?? null,
    storage: item.STORAGE_METHOD ?? null,
    validTerm: item.VALID_TERM ?? null,
  })),
};
