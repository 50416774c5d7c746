// Ministry of Food and Drug Safety on data.go.kr, "getMdcinPrductItem02" of
// MdcinPrductPrmsnInfoService02.
if (![itemName, entpName, itemSeq].some((text) => text && text.trim())) {
  throw new Error("give at least one of itemName, entpName and itemSeq");
}
const paging = safety.check(args, {
  pageNo: { type: "integer", minimum: 1, maximum: 10_000, default: 1 },
  numOfRows: { type: "integer", minimum: 1, maximum: 100, default: 5 },
});

const search = new URLSearchParams({
  // data.go.kr shows each key in two forms, of which one is percent-encoded.
  serviceKey: dataGoKrDrugKey.replace(/%(?:2B|2F|3D)/gi, decodeURIComponent),
  type: "json",
  numOfRows: String(paging.numOfRows),
  pageNo: String(paging.pageNo),
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
const fewer = "ask for fewer with numOfRows";
const granted =
  "check DATA_GO_KR_DRUG_KEY and that data.go.kr granted it for this service";
resp.check("data.go.kr", { 401: granted, 403: granted, truncated: fewer });
const found = safety.parser.dataGoKr(resp.text(), { advice: granted });
const items = found.items.filter(Boolean);

return {
  totalCount: found.totalCount ?? items.length,
  ...paging,
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
