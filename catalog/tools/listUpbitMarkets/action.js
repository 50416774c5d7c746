// Upbit quotation API, /v1/market/all (docs.upbit.com).
const currency = (quote || "KRW").trim().toUpperCase();
if (!["KRW", "BTC", "USDT", "ALL"].includes(currency)) {
  throw new Error('quote must be "KRW", "BTC", "USDT" or "ALL"');
}

const resp = await fetch(
  "https://api.upbit.com/v1/market/all?isDetails=false",
  {
    headers: { Accept: "application/json" },
    maxLength: 1_000_000,
  },
);
resp.check("Upbit");

const all = resp.json();
if (!Array.isArray(all) || all.includes(null)) {
  throw new Error("Upbit answered without a list of markets");
}
const markets = all
  .filter(
    (entry) => currency === "ALL" || entry.market?.startsWith(`${currency}-`),
  )
  .map((entry) => ({
    market: entry.market,
    koreanName: entry.korean_name,
    englishName: entry.english_name,
  }));
return { count: markets.length, markets };
