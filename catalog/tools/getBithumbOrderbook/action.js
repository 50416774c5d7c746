// Bithumb public API, /public/orderbook (apidocs.bithumb.com).
const coin = symbol.trim().toUpperCase();
if (!/^[A-Z0-9]{1,20}$/.test(coin) || coin === "ALL") {
  throw new Error('symbol must be the symbol of one coin, such as "BTC"');
}
const { count: size } = safety.check(args, {
  count: { type: "integer", minimum: 1, maximum: 30, default: 5 },
});

const resp = await fetch(
  `https://api.bithumb.com/public/orderbook/${coin}_KRW?count=${size}`,
  {
    headers: { Accept: "application/json" },
    maxLength: 200_000,
  },
);
if (resp.truncated) {
  throw new Error(
    "the answer of Bithumb is larger than 200 kB; ask for a smaller count",
  );
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
if (!Array.isArray(data?.bids) || !Array.isArray(data?.asks)) {
  throw new Error("Bithumb answered without an order book");
}
// The upstream writes numbers as text.
const orders = (list) =>
  list.filter(Boolean).map((order) => ({
    price: Number(order.price),
    quantity: Number(order.quantity),
  }));
const time = Number(data.timestamp);
return {
  symbol: coin,
  timestamp: time > 0 ? new Date(time).toISOString() : null,
  bids: orders(data.bids),
  asks: orders(data.asks),
};
