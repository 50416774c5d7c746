// Bithumb public API, /public/ticker (apidocs.bithumb.com).
const coin = symbol.trim().toUpperCase();
if (!/^[A-Z0-9]{1,20}$/.test(coin) || coin === "ALL") {
  throw new Error('symbol must be the symbol of one coin, such as "BTC"');
}

const resp = await fetch(`https://api.bithumb.com/public/ticker/${coin}_KRW`, {
  headers: { Accept: "application/json" },
  maxLength: 100_000,
});
if (resp.truncated) {
  throw new Error("the answer of Bithumb is larger than 100 kB");
}

// Bithumb says in status how it went; of an error HTTP may say 400, too.
const answer = resp.ok || resp.status === 400 ? resp.json() : null;
if (answer?.message) {
  throw new Error(
    `Bithumb refused the request: ${answer.message} (status ${answer.status})`,
  );
}
resp.check("Bithumb");

const data = answer?.data;
if (!data?.closing_price) {
  throw new Error("Bithumb answered without a price");
}
// The upstream writes numbers as text.
const number = (text) =>
  text === undefined || text === null || text === "" ? null : Number(text);
return {
  openingPrice: number(data.opening_price),
  closingPrice: number(data.closing_price),
  minPrice: number(data.min_price),
  maxPrice: number(data.max_price),
  prevClosingPrice: number(data.prev_closing_price),
  unitsTraded24h: number(data.units_traded_24H),
  accTradeValue24h: number(data.acc_trade_value_24H),
  change24h: number(data.fluctate_24H),
  changeRate24h: number(data.fluctate_rate_24H),
};
