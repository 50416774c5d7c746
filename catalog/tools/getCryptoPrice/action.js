// CoinGecko API v3, /simple/price (docs.coingecko.com).
const list = (text, what) => {
  const entries = text
    .toLowerCase()
    .split(",")
    .map((entry) => entry.trim())
    .filter(Boolean);
  if (
    entries.length < 1 ||
    entries.length > 50 ||
    entries.some((entry) => !/^[\w.-]+$/.test(entry))
  ) {
    throw new Error(`${what} must be from 1 to 50 names separated by commas`);
  }
  return entries.join(",");
};
const search = new URLSearchParams({
  ids: list(ids, "ids"),
  vs_currencies: list(currencies || "usd", "currencies"),
});

const resp = await fetch(
  `https://api.coingecko.com/api/v3/simple/price?${search}`,
  {
    headers: { Accept: "application/json" },
    maxLength: 500_000,
  },
);
if (resp.status === 429) {
  throw new Error("CoinGecko takes no more requests for now; wait a minute");
}
resp.check("CoinGecko");

const prices = resp.json();
if (prices === null || typeof prices !== "object" || Array.isArray(prices)) {
  throw new Error("CoinGecko answered without prices");
}
if (Object.keys(prices).length === 0) {
  throw new Error(
    'CoinGecko knows none of these ids; an id is "bitcoin", not "BTC"',
  );
}
return prices;
