// Ministry of Land, Infrastructure and Transport on data.go.kr,
// "getRTMSDataSvcAptTradeDev" (reported sales of apartments, in detail).
if (!/^\d{5}$/.test(lawdCode)) {
  throw new Error('lawdCode must have five digits, such as "11680"');
}
if (!/^\d{4}(0[1-9]|1[0-2])$/.test(dealYmd)) {
  throw new Error("dealYmd must be a month as YYYYMM");
}
const paging = safety.check(args, {
  pageNo: { type: "integer", minimum: 1, maximum: 10_000, default: 1 },
  numOfRows: { type: "integer", minimum: 1, maximum: 1000, default: 20 },
});

const search = new URLSearchParams({
  // data.go.kr shows each key in two forms, of which one is percent-encoded.
  serviceKey: dataGoKrAptKey.replace(/%(?:2B|2F|3D)/gi, decodeURIComponent),
  LAWD_CD: lawdCode,
  DEAL_YMD: dealYmd,
  numOfRows: String(paging.numOfRows),
  pageNo: String(paging.pageNo),
  _type: "json",
});
const resp = await fetch(
  `https://apis.data.go.kr/1613000/RTMSDataSvcAptTradeDev/getRTMSDataSvcAptTradeDev?${search}`,
  { maxLength: 2_000_000 },
);
const fewer = "ask for fewer with numOfRows";
const granted =
  "check DATA_GO_KR_APT_KEY and that data.go.kr granted it for this service";
resp.check("data.go.kr", { 401: granted, 403: granted, truncated: fewer });
const found = safety.parser.dataGoKr(resp.text(), { advice: granted });
const items = found.items.filter(Boolean);

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
  totalCount: found.totalCount ?? items.length,
  ...paging,
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
