// Ministry of Land, Infrastructure and Transport on data.go.kr,
// "getRTMSDataSvcAptTradeDev" (reported sales of apartments, in detail).
const whole = (text, name, fallback, most) => {
  const value = text ? Number(text) : fallback;
  if (!Number.isInteger(value) || value < 1 || value > most) {
    throw new Error(`${name} must be a whole number from 1 to ${most}`);
  }
  return value;
};
if (!/^\d{5}$/.test(lawdCode)) {
  throw new Error('lawdCode must have five digits, such as "11680"');
}
if (!/^\d{4}(0[1-9]|1[0-2])$/.test(dealYmd)) {
  throw new Error("dealYmd must be a month as YYYYMM");
}
const rows = whole(numOfRows, "numOfRows", 20, 1000);
const page = whole(pageNo, "pageNo", 1, 10_000);
// data.go.kr shows each key in two forms; the percent-encoded one is decoded.
const key = dataGoKrAptKey.includes("%")
  ? decodeURIComponent(dataGoKrAptKey)
  : dataGoKrAptKey;

const search = new URLSearchParams({
  serviceKey: key,
  LAWD_CD: lawdCode,
  DEAL_YMD: dealYmd,
  numOfRows: String(rows),
  pageNo: String(page),
  _type: "json",
});
const resp = await fetch(
  `https://apis.data.go.kr/1613000/RTMSDataSvcAptTradeDev/getRTMSDataSvcAptTradeDev?${search}`,
  { maxLength: 2_000_000 },
);
if (!resp.ok) {
  const refused = resp.status === 401 || resp.status === 403;
  throw new Error(
    `data.go.kr answered with HTTP status ${resp.status}` +
      (refused
        ? "; check DATA_GO_KR_APT_KEY and that data.go.kr granted it for this service"
        : ""),
  );
}
if (resp.truncated) {
  throw new Error(
    "the answer of data.go.kr is larger than 2 MB; ask for fewer with numOfRows",
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
          ? "; check DATA_GO_KR_APT_KEY and that data.go.kr granted it for this service"
          : ""),
    );
  }
}
const { header, body } = resp.json()?.response ?? {};
// 03 is the word for "no data".
if (header?.resultCode !== "000" && header?.resultCode !== "03") {
  throw new Error(
    `data.go.kr refused the request: ${header?.resultMsg ?? "no result code"}`,
  );
}
// One entry may come without a list around it, none as an empty text.
const found = body?.items?.item ?? body?.items;
const items = Array.isArray(found) ? found : found ? [found] : [];

// A text that is not set is a blank, and numbers come as numbers or texts.
const clean = (value) => String(value ?? "").trim() || null;
const number = (value) =>
  clean(value) === null ? null : Number(clean(value).replace(/,/g, ""));
const two = (value) => String(value ?? "").padStart(2, "0");
return {
  lawdCode,
  dealYmd,
  totalCount: body?.totalCount ?? items.length,
  pageNo: page,
  numOfRows: rows,
  items: items.map((item) => ({
    apartment: clean(item.aptNm),
    neighborhood: clean(item.umdNm),
    lot: clean(item.jibun),
    areaM2: number(item.excluUseAr),
    floor: number(item.floor),
    builtYear: number(item.buildYear),
    dealDate: `${item.dealYear}-${two(item.dealMonth)}-${two(item.dealDay)}`,
    // Reported in units of 10,000 won.
    priceWon:
      clean(item.dealAmount) === null ? null : number(item.dealAmount) * 10_000,
    dealType: clean(item.dealingGbn),
    cancelled: clean(item.cdealType) === "O",
  })),
};
