// Upbit quotation API, /v1/candles (docs.upbit.com).
const code = market.trim().toUpperCase();
if (!/^[A-Z]+-[A-Z0-9]+$/.test(code)) {
  throw new Error('market must be one code such as "KRW-BTC"');
}
const unit = interval || "days";
if (!/^(days|weeks|months|minutes\/(1|3|5|10|15|30|60|240))$/.test(unit)) {
  throw new Error(
    'interval must be "days", "weeks", "months" or "minutes/N" with N of 1, 3, 5, 10, 15, 30, 60 or 240',
  );
}
const { count: size } = safety.check(args, {
  count: { type: "integer", minimum: 1, maximum: 200, default: 10 },
});

const search = new URLSearchParams({ market: code, count: String(size) });
const resp = await fetch(`https://api.upbit.com/v1/candles/${unit}?${search}`, {
  headers: { Accept: "application/json" },
  maxLength: 1_000_000,
});
if (resp.status === 404) {
  throw new Error("Upbit does not know this market");
}
if (resp.status === 429) {
  throw new Error("Upbit takes no more requests for now; wait a second");
}
resp.check("Upbit", { truncated: "ask for a smaller count" });

const candles = resp.json();
if (!Array.isArray(candles) || candles.includes(null)) {
  throw new Error("Upbit answered without a list of candles");
}
return candles.map((candle) => ({
  market: candle.market,
  timeUtc: candle.candle_date_time_utc,
  timeKst: candle.candle_date_time_kst,
  openingPrice: candle.opening_price,
  highPrice: candle.high_price,
  lowPrice: candle.low_price,
  closingPrice: candle.trade_price,
  accTradePrice: candle.candle_acc_trade_price,
  accTradeVolume: candle.candle_acc_trade_volume,
}));
