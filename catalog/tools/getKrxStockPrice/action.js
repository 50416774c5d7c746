// Financial Services Commission on data.go.kr, "getStockPriceInfo".
const rows = Number(numOfRows || 10);
const page = Number(pageNo || 1);
const within = (n, most) => Number.isInteger(n) && n >= 1 && n <= most;
if (!within(rows, 500) || !within(page, 10_000)) {
  throw new Error(
    "numOfRows must be a whole number from 1 to 500 and pageNo one from 1 to 10000",
  );
}
if (!basDt && !itmsNm && !likeItmsNm && !srtnCd) {
  throw new Error("give at least one of basDt, itmsNm, likeItmsNm and srtnCd");
}
if (basDt && !/^\d{8}$/.test(basDt)) {
  throw new Error("basDt must be a day as YYYYMMDD");
}
if (srtnCd && !/^[0-9A-Z]{6,9}$/.test(srtnCd)) {
  throw new Error('srtnCd must be the code of a share, such as "005930"');
}
if (mrktCls && !["KOSPI", "KOSDAQ", "KONEX"].includes(mrktCls)) {
  throw new Error('mrktCls must be "KOSPI", "KOSDAQ" or "KONEX"');
}
// data.go.kr shows each key in two forms, of which one is percent-encoded.
const key = dataGoKrStockKey.replace(/%(?:2B|2F|3D)/gi, decodeURIComponent);

const search = new URLSearchParams({
  serviceKey: key,
  resultType: "json",
  numOfRows: String(rows),
  pageNo: String(page),
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
const granted =
  "check DATA_GO_KR_STOCK_KEY and that data.go.kr granted it for this service";
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

const number = (text) => (text ? Number(text) : null);
return {
  totalCount: body?.totalCount ?? items.length,
  pageNo: page,
  numOfRows: rows,
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
