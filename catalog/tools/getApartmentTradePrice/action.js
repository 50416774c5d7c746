// Ministry of Land, Infrastructure and Transport on data.go.kr,
// "getRTMSDataSvcAptTradeDev" (reported sales of apartments, in detail).
if (!/^\d{5}$/.test(lawdCode)) {
  throw new Error('lawdCode must have five digits, such as "11680"');
}
if (!/^\d{4}(0[1-9]|1[0-2])$/.test(dealYmd)) {
  throw new Error("dealYmd must be a month as YYYYMM");
}
const rows = Number(numOfRows || 20);
const page = Number(pageNo || 1);
const within = (n, most) => Number.isInteger(n) && n >= 1 && n <= most;
if (!within(rows, 1000) || !within(page, 10_000)) {
  throw new Error(
    "numOfRows must be a whole number from 1 to 1000 and pageNo one from 1 to 10000",
  );
}
// data.go.kr shows each key in two forms, of which one is percent-encoded.
const key = dataGoKrAptKey.replace(/%(?:2B|2F|3D)/gi, decodeURIComponent);

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
const granted =
  "check DATA_GO_KR_APT_KEY and that data.go.kr granted it for this service";
resp.check("data.go.kr", {
  401: granted,
  403: granted,
  truncated: "ask for fewer with numOfRows",
});
// What the gateway itself refuses is a 200 in XML, whatever form was asked for.
const xml = /^\s*<.*<(?:errMsg|returnAuthMsg)>([^<]*)</s.exec(resp.text());
const { header, body } = xml ? {} : (resp.json()?.response ?? {});
// 03 is the word for "no data".
if (header?.resultCode !== "000" && header?.resultCode !== "03") {
  const why = xml?.[1] ?? header?.resultMsg ?? "no result code";
  const advice = /KEY|ACCESS/.test(why) ? `; ${granted}` : "";
  throw new Error(`data.go.kr refused the request: ${why}${advice}`);
}
// One entry may come without a list around it, none as an empty text.
const items = [body?.items?.item ?? (body?.items || [])].flat().filter(Boolean);

// A text that is not set is a blank, and numbers come as numbers or texts.
const clean = (value) => String(value ?? "").trim() || null;
const number = (value) =>
  clean(value) === null ? null : Number(clean(value).replace(/,/g, ""));
const day = ({ dealYear, dealMonth, dealDay }) => {
  const parts = [dealYear, dealMonth, dealDay].map(clean);
  return parts.includes(null)
    ? null
    : parts.map((part) => part.padStart(2, "0")).join("-");
};
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
    dealDate: day(item),
    // Reported in units of 10,000 won.
    priceWon:
      clean(item.dealAmount) === null ? null : number(item.dealAmount) * 10_000,
    dealType: clean(item.dealingGbn),
    cancelled: clean(item.cdealType) === "O",
  })),
};
