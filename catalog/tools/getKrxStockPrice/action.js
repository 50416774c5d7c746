// Financial Services Commission on data.go.kr, "getStockPriceInfo".
const paging = safety.check(args, {
  pageNo: { type: "integer", minimum: 1, maximum: 10_000, default: 1 },
  numOfRows: { type: "integer", minimum: 1, maximum: 500, default: 10 },
});
safety.check(args, {
  basDt: { format: "basic-date" },
  mrktCls: { enum: ["KOSPI", "KOSDAQ", "KONEX"] },
});
if (!basDt && !itmsNm && !likeItmsNm && !srtnCd) {
  throw new Error("give at least one of basDt, itmsNm, likeItmsNm and srtnCd");
}
if (srtnCd && !/^[0-9A-Z]{6,9}$/.test(srtnCd)) {
  throw new Error('srtnCd must be the code of a share, such as "005930"');
}

const search = new URLSearchParams({
  // data.go.kr shows each key in two forms, of which one is percent-encoded.
  serviceKey: dataGoKrStockKey.replace(/%(?:2B|2F|3D)/gi, decodeURIComponent),
  resultType: "json",
  numOfRows: String(paging.numOfRows),
  pageNo: String(paging.pageNo),
});
// The service searches codes by their beginning only.
const filters = { basDt, itmsNm, likeItmsNm, likeSrtnCd: srtnCd, mrktCls };
for (const [name, value] of Object.entries(filters)) {
  if (value) {
    search.set(name, value);
  }
}
const resp = await fetch(
  `https://apis.data.go.kr/1160100/service/GetStockSecuritiesInfoService/getStockPriceInfo?${search}`,
  { maxLength: 2_000_000 },
);
const fewer = "ask for fewer with numOfRows";
const granted =
  "check DATA_GO_KR_STOCK_KEY and that data.go.kr granted it for this service";
resp.check("data.go.kr", { 401: granted, 403: granted, truncated: fewer });
const found = safety.parser.dataGoKr(resp.text(), { advice: granted });
const items = found.items.filter(Boolean);

const number = (text) => (text ? Number(text) : null);
return {
  totalCount: found.totalCount ?? items.length,
  ...paging,
  items: items.map((item) => ({
    baseDate: item.basDt,
    code: item.srtnCd,
    isin: item.isinCd,
    name: item.itmsNm,
    market: item.mrktCtg ?? null,
    close: number(item.clpr),
    change: number(item.vs),
    changeRate: number(item.fltRt),
    open: number(item.mkp),
    high: number(item.hipr),
    low: number(item.lopr),
    volume: number(item.trqu),
    tradingValue: number(item.trPrc),
    listedShares: number(item.lstgStCnt),
    marketCap: number(item.mrktTotAmt),
  })),
};
