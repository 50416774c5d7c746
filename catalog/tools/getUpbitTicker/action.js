// Upbit quotation API, /v1/ticker (docs.upbit.com).
const codes = markets
  .toUpperCase()
  .split(",")
  .map((code) => code.trim())
  .filter(Boolean);
if (
  codes.length < 1 ||
  codes.length > 100 ||
  codes.some((code) => !/^[A-Z]+-[A-Z0-9]+$/.test(code))
) {
  throw new Error(
    'markets must be from 1 to 100 codes such as "KRW-BTC", separated by commas',
  );
}

const search = new URLSearchParams({ markets: codes.join(",") });
const resp = await fetch(`https://api.upbit.com/v1/ticker?${search}`, {
  headers: { Accept: "application/json" },
  maxLength: 1_000_000,
});
if (resp.status === 404) {
  throw new Error("Upbit does not know one of these markets");
}
if (resp.status === 429) {
  throw new Error("Upbit takes no more requests for now; wait a second");
}
resp.check("Upbit", { truncated: "ask for fewer markets" });

const tickers = resp.json();
if (!Array.isArray(tickers) || tickers.includes(null)) {
  throw new Error("Upbit answered without a list of tickers");
}
return tickers.map((ticker) => ({
  market: ticker.market,
  tradePrice: ticker.trade_price,
  openingPrice: ticker.opening_price,
  highPrice: ticker.high_price,
  lowPrice: ticker.low_price,
  change: ticker.change,
  signedChangeRate: ticker.signed_change_rate,
  accTradePrice24h: ticker.acc_trade_price_24h,
  accTradeVolume24h: ticker.acc_trade_volume_24h,
}));
