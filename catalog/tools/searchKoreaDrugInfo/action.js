// Ministry of Food and Drug Safety on data.go.kr, "getMdcinPrductItem02" of
// MdcinPrductPrmsnInfoService02.
const whole = (text, name, fallback, most) => {
  const value = text ? Number(text) : fallback;
  if (!Number.isInteger(value) || value < 1 || value > most) {
    throw new Error(`${name} must be a whole number from 1 to ${most}`);
  }
  return value;
};
if (![itemName, entpName, itemSeq].some((text) => text && text.trim())) {
  throw new Error("give at least one of itemName, entpName and itemSeq");
}
const rows = whole(numOfRows, "numOfRows", 5, 100);
const page = whole(pageNo, "pageNo", 1, 10_000);
// data.go.kr shows each key in two forms; the percent-encoded one is decoded.
const key = dataGoKrDrugKey.includes("%")
  ? decodeURIComponent(dataGoKrDrugKey)
  : dataGoKrDrugKey;

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
if (!resp.ok) {
  const refused = resp.status === 401 || resp.status === 403;
  throw new Error(
    `data.go.kr answered with HTTP status ${resp.status}` +
      (refused
        ? "; check DATA_GO_KR_DRUG_KEY and that data.go.kr granted it for this service"
        : ""),
  );
}
if (resp.truncated) {
  throw new Error(
    "the answer of data.go.kr is larger than 5 MB; ask for fewer with numOfRows",
  );
}
// What the gateway itself refuses is a 200 in XML, whatever form was asked for.
const text = resp.text();
if (text.trimStart().startsWith("<")) {
  const refusal =
    /<returnAuthMsg>([^<]*)</.exec(text) ?? /<errMsg>([^<]*)</.exec(text);
  if (refusal) {
    const keyed = /KEY|ACCESS/.test(refusal[1]);
    throw new Error(
      `data.go.kr refused the request: ${refusal[1]}` +
        (keyed
          ? "; check DATA_GO_KR_DRUG_KEY and that data.go.kr granted it for this service"
          : ""),
    );
  }
}
// This service has no "response" around its answer; others do.
const answer = resp.json();
const { header, body } = answer?.response ?? answer ?? {};
// 03 is the word for "no data".
if (header?.resultCode !== "00" && header?.resultCode !== "03") {
  throw new Error(
    `data.go.kr refused the request: ${header?.resultMsg ?? "no result code"}`,
  );
}
// One entry may come without a list around it, none as an empty text.
const found = body?.items?.item ?? body?.items;
const items = Array.isArray(found) ? found : found ? [found] : [];

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
