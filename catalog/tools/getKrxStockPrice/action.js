// Financial Services Commission on data.go.kr, "getStockPriceInfo".
const whole = (text, name, fallback, most) => {
  const value = text ? Number(text) : fallback;
  if (!Number.isInteger(value) || value < 1 || value > most) {
    throw new Error(`${name} must be a whole number from 1 to ${most}`);
  }
  return value;
};
const rows = whole(numOfRows, "numOfRows", 10, 500);
const page = whole(pageNo, "pageNo", 1, 10_000);
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
// data.go.kr shows each key in two forms; the percent-encoded one is decoded.
const key = dataGoKrStockKey.includes("%")
  ? decodeURIComponent(dataGoKrStockKey)
  : dataGoKrStockKey;

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
if (!resp.ok) {
  const refused = resp.status === 401 || resp.status === 403;
  throw new Error(
    `data.go.kr answered with HTTP status ${resp.status}` +
      (refused
        ? "; check DATA_GO_KR_STOCK_KEY and that data.go.kr granted it for this service"
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
          ? "; check DATA_GO_KR_STOCK_KEY and that data.go.kr granted it for this service"
          : ""),
    );
  }
}
const { header, body } = resp.json()?.response ?? {};
// 03 is the word for "no data".
if (header?.resultCode !== "00" && header?.resultCode !== "03") {
  throw new Error(
    `data.go.kr refused the request: ${header?.resultMsg ?? "no result code"}`,
  );
}
// One entry may come without a list around it, none as an empty text.
const found = body?.items?.item ?? body?.items;
const items = Array.isArray(found) ? found : found ? [found] : [];

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
