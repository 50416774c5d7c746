// Writes ../testdata/intl.json: what node gives for calls of Intl. hour12 is
// resolved as the standard does since 2023 (h23, h12, in Japan h11), which
// this version of ICU does not yet do.
import { writeFileSync } from "node:fs";
process.env.TZ = "UTC";
const locales = ["en", "en-US", "en-CA", "en-GB", "de", "fr", "ko", "ja", "de-DE", "fr-FR", "ko-KR", "ja-JP"];
let seed = 7;
const random = n => (seed = (seed * 1103515245 + 12345) % 2147483648) % n;
const pick = list => list[random(list.length)];
const times = [0, -1, 1773273600000, 1772953199999, 1772953200000, 1793509199000, 1793512800000, 1767225600000, 1774746000000, 1774745999999,
  -62198755200000, 8.64e15, 951782400000, 1798761599999, 1700000000123];
const zones = ["UTC", "Asia/Seoul", "America/New_York", "America/Los_Angeles", "Europe/Berlin", "Europe/London", "Europe/Paris", "Asia/Tokyo", "Asia/Kolkata", "Australia/Sydney", "Pacific/Chatham", "America/St_Johns", "Pacific/Honolulu"];
const fields = {
  weekday: ["long", "short", "narrow"], year: ["numeric", "2-digit"], month: ["numeric", "2-digit", "long", "short", "narrow"], day: ["numeric", "2-digit"],
  hour: ["numeric", "2-digit"], minute: ["numeric", "2-digit"], second: ["numeric", "2-digit"], fractionalSecondDigits: [1, 2, 3],
  timeZoneName: ["short", "long", "shortOffset", "longOffset"], hour12: [true, false], hourCycle: ["h11", "h12", "h23", "h24"],
};
const cases = [];
const add = (kind, locale, options, value, f) => {
  let want;
  try { want = f(); } catch (e) { want = e.name; }
  cases.push({ kind, locale, options, value: Object.is(value, -0) ? "-0" : typeof value === "number" && !Number.isFinite(value) ? String(value) : typeof value === "bigint" ? value + "n" : value, want });
};
const resolve = (locale, o) => {
  const { hour12, ...rest } = o;
  return hour12 === undefined ? o : { ...rest, hourCycle: hour12 ? (locale.startsWith("ja") ? "h11" : "h12") : "h23" };
};
const date = (locale, options, value) => {
  const o = resolve(locale, options);
  add("date", locale, options, value, () => new Intl.DateTimeFormat(locale, o).format(value));
  if (random(3) === 0) add("parts", locale, options, value, () => new Intl.DateTimeFormat(locale, o).formatToParts(value).map(p => p.type + "=" + p.value).join("|"));
  if (random(4) === 0 && options.hour12 === undefined) add("resolved", locale, options, value, () => JSON.stringify(new Intl.DateTimeFormat(locale, o).resolvedOptions()));
};
for (const l of locales) {
  for (const v of times) for (const m of ["toLocaleString", "toLocaleDateString", "toLocaleTimeString"]) if (random(3) === 0) add(m, l, undefined, v, () => new Date(v)[m](l));
  for (const dateStyle of [undefined, "full", "long", "medium", "short"]) for (const timeStyle of [undefined, "full", "long", "medium", "short"]) {
    if ((dateStyle || timeStyle) && random(2) === 0) date(l, { timeZone: pick(zones), dateStyle, timeStyle, ...(timeStyle && random(3) === 0 ? { hour12: pick([true, false]) } : {}) }, pick(times.filter(t => t > -2)));
  }
  for (let i = 0; i < 45; i++) {
    const o = { timeZone: pick(zones) };
    for (const [k, v] of Object.entries(fields)) if (random(k === "hour12" || k === "hourCycle" || k === "timeZoneName" || k === "fractionalSecondDigits" ? 5 : 2) === 0) o[k] = pick(v);
    date(l, o, pick(times.filter(t => t > -2 || !o.timeZoneName)));
  }
}
const numbers = [0, -0, 1, -1, 0.5, -0.5, 1.005, 2.5, 1234.5, -1234567.891, 1e21, 123456789012345680000, 0.000001234, 99.995, 1e-10, NaN, Infinity, -Infinity, 12345678901234567890n, 999999.5];
for (const l of locales) {
  for (let i = 0; i < 40; i++) {
    const o = {}, v = pick(numbers);
    o.style = pick(["decimal", "percent", "currency", "currency"]);
    if (o.style === "currency") { o.currency = pick(["USD", "EUR", "GBP", "JPY", "KRW", "CHF", "CAD", "BHD", "INR", "XAF"]); if (random(3) === 0) o.currencySign = "accounting"; if (random(3) === 0) o.currencyDisplay = pick(["symbol", "narrowSymbol", "code"]); }
    if (random(3) === 0) o.minimumFractionDigits = random(4);
    if (random(3) === 0) o.maximumFractionDigits = random(6);
    if (random(6) === 0) o.minimumIntegerDigits = 1 + random(5);
    if (random(5) === 0) o.maximumSignificantDigits = 1 + random(6);
    if (random(6) === 0) o.minimumSignificantDigits = 1 + random(4);
    if (random(4) === 0) o.signDisplay = pick(["auto", "always", "never", "exceptZero", "negative"]);
    if (random(5) === 0) o.useGrouping = pick([false, true, "always", "min2", "auto"]);
    add("number", l, o, v, () => new Intl.NumberFormat(l, o).format(v));
    if (random(4) === 0) add("numberParts", l, o, v, () => new Intl.NumberFormat(l, o).formatToParts(v).map(p => p.type + "=" + p.value).join("|"));
  }
  for (const v of numbers) add("numberToLocale", l, undefined, v, () => v.toLocaleString(l));
}
writeFileSync(new URL("../testdata/intl.json", import.meta.url), "[\n" + cases.map(c => JSON.stringify(c)).join(",\n") + "\n]\n");
console.error(cases.length, "cases");
