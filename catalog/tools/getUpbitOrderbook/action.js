// Upbit quotation API, /v1/orderbook (docs.upbit.com).
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
if (level && !/^\d+(\.\d+)?$/.test(level)) {
  throw new Error('level must be a price step such as "10000"');
}

const search = new URLSearchParams({ markets: codes.join(",") });
if (level) {
  search.set("level", level);
}
const resp = await fetch(`https://api.upbit.com/v1/orderbook?${search}`, {
  headers: { Accept: "application/json" },
  maxLength: 2_000_000,
});
if (resp.status === 404) {
  throw new Error(
    "Upbit does not know one of these markets, or the level does not fit them",
  );
}
if (resp.status === 429) {
  throw new Error("Upbit takes no more requests for now; wait a second");
}
resp.check("Upbit", { truncated: "ask for fewer markets" });

const books = resp.json();
if (!Array.isArray(books) || books.includes(null)) {
  throw new Error("Upbit answered without a list of order books");
}
return books.map((book) => ({
  market: book.market,
  timestamp: Number.isFinite(book.timestamp)
    ? new Date(book.timestamp).toISOString()
    : null,
  totalAskSize: book.total_ask_size,
  totalBidSize: book.total_bid_size,
  units: (book.orderbook_units ?? []).filter(Boolean).map((unit) => ({
    askPrice: unit.ask_price,
    bidPrice: unit.bid_price,
    askSize: unit.ask_size,
    bidSize: unit.bid_size,
  })),
}));
