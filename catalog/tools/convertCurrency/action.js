// exchangerate.host, /convert.
const source = from.trim().toUpperCase();
const target = to.trim().toUpperCase();
if (!/^[A-Z]{3}$/.test(source) || !/^[A-Z]{3}$/.test(target)) {
  throw new Error(
    'from and to must be currency codes of three letters, such as "USD"',
  );
}
const sum = amount ?? 1;
if (!Number.isFinite(sum) || sum < 0) {
  throw new Error("amount must be a number of 0 or more");
}

const search = new URLSearchParams({
  from: source,
  to: target,
  amount: String(sum),
});
const resp = await fetch(`https://api.exchangerate.host/convert?${search}`, {
  headers: { Accept: "application/json" },
  maxLength: 100_000,
});
resp.check("exchangerate.host");

// What it refuses is a 200 with success false.
const answer = resp.json();
if (answer?.success === false) {
  const reason = answer.error?.info ?? answer.error?.type ?? "no reason given";
  throw new Error(`exchangerate.host refused the conversion: ${reason}`);
}
if (typeof answer?.result !== "number") {
  throw new Error("exchangerate.host answered without a result");
}
return {
  from: source,
  to: target,
  amount: sum,
  rate: answer.info?.rate ?? answer.info?.quote ?? null,
  result: answer.result,
  date: answer.date ?? null,
};
