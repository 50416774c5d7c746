// Writes the tables of Intl: run `node generate.mjs` with a node that has full
// ICU data. The tables are patterns and names of the Unicode CLDR, read off
// what node formats. zones.txt and one file for each locale come out; the
// expected values of the tests are made by cases.mjs. With names of locales
// behind it, only their files are written.
import { writeFileSync, readFileSync } from "node:fs";

process.env.TZ = "UTC";
export const locales = ["en", "en-CA", "en-GB", "de", "fr", "ko", "ja"];
const same = { en: ["en-US"], de: ["de-DE"], fr: ["fr-FR"], ko: ["ko-KR"], ja: ["ja-JP"] };

// The options of each field, by the digit that stands for them in a key.
const dateFields = [
  ["weekday", [undefined, "long", "short", "narrow"]],
  ["year", [undefined, "numeric", "2-digit"]],
  ["month", [undefined, "numeric", "2-digit", "long", "short", "narrow"]],
  ["day", [undefined, "numeric", "2-digit"]],
];
const timeFields = [
  ["hour", [undefined, "numeric", "2-digit"]],
  ["minute", [undefined, "numeric", "2-digit"]],
  ["second", [undefined, "numeric", "2-digit"]],
  ["fractionalSecondDigits", [undefined, 1, 2, 3]],
];
const cycles = ["h11", "h12", "h23", "h24"];
const styles = [undefined, "full", "long", "medium", "short"];

function* product(fields) {
  const digits = fields.map(() => 0);
  for (;;) {
    const options = {};
    fields.forEach(([name, values], i) => { if (values[digits[i]] !== undefined) options[name] = values[digits[i]]; });
    yield [digits.join(""), options];
    let i = fields.length - 1;
    while (i >= 0 && ++digits[i] === fields[i][1].length) digits[i--] = 0;
    if (i < 0) return;
  }
}

// The kinds of names of a zone but the short one, by the letter that stands for
// them in a key.
const zoneKinds = { l: "long", o: "shortOffset", O: "longOffset" };

const sample = Date.UTC(2026, 2, 5, 4, 6, 7, 89); // every number has one digit

class Tables {
  lists = [];
  list(values) {
    const text = values.join("|");
    let i = this.lists.indexOf(text);
    if (i < 0) i = this.lists.push(text) - 1;
    return i;
  }
}

// template turns what a formatter writes into a pattern: literals as they
// are, fields in braces.
function template(f, tables) {
  const read = (at, type) => f.formatToParts(at).find(p => p.type === type).value;
  let out = "";
  for (const { type, value } of f.formatToParts(sample)) {
    switch (type) {
      case "literal":
        if (/[{}|\t\n]/.test(value)) throw new Error("literal " + value);
        out += value;
        break;
      case "year": out += value === "2026" ? "{y}" : value === "26" ? "{yy}" : bad(value); break;
      case "month":
        if (value === "3" || value === "03") { out += value === "3" ? "{M}" : "{MM}"; break; }
        out += "{M" + tables.list([...Array(12).keys()].map(m => read(Date.UTC(2026, m, 5, 4), type))) + "}";
        break;
      case "weekday":
        out += "{E" + tables.list([...Array(7).keys()].map(d => read(Date.UTC(2026, 2, 1 + d, 4), type))) + "}";
        break;
      case "dayPeriod":
        out += "{a" + tables.list([4, 16].map(h => read(Date.UTC(2026, 2, 5, h), type))) + "}";
        break;
      case "day": out += digits("d", value, "5"); break;
      case "hour": out += digits("h", value, "4"); break;
      case "minute": out += digits("m", value, "6"); break;
      case "second": out += digits("s", value, "7"); break;
      case "fractionalSecond": out += "{S" + value.length + "}"; break;
      case "timeZoneName": out += "{z}"; break;
      default: bad(type);
    }
  }
  return out;
}
function digits(letter, value, one) {
  return value === one ? `{${letter}}` : value === "0" + one ? `{${letter}${letter}}` : bad(value);
}
function bad(v) { throw new Error("unexpected " + v); }

function build(locale) {
  const tables = new Tables();
  const patterns = new Map();
  const make = options => template(new Intl.DateTimeFormat(locale, { timeZone: "UTC", ...options }), tables);
  const put = (key, pattern) => {
    if (!patterns.has(pattern)) patterns.set(pattern, []);
    patterns.get(pattern).push(key);
    return pattern;
  };
  const dates = new Map(), times = new Map();
  for (const [key, options] of product(dateFields)) {
    if (key === "0000") continue;
    dates.set(key, [put("D" + key, make(options)), put("d" + key, make({ ...options, timeZoneName: "short" })), options]);
  }
  for (const [key, options] of product(timeFields)) {
    if (key === "0000") continue;
    for (const [i, hourCycle] of cycles.entries()) {
      if (key[0] === "0" && i) continue;
      const opts = key[0] === "0" ? options : { ...options, hourCycle };
      const k = key + (key[0] === "0" ? 0 : i + 1);
      // Without a field of a date or a time, timeZoneName alone would bring a date.
      times.set(k, [put("T" + k, make(opts)), put("t" + k, make({ ...opts, timeZoneName: "short" })), opts]);
    }
  }
  for (const [i, dateStyle] of styles.entries()) for (const [j, timeStyle] of styles.entries()) {
    if (!i && !j) continue;
    for (const [c, hourCycle] of [undefined, ...cycles].entries()) {
      if (c && !j) continue;
      put(`S${i}${j}${c}`, make({ dateStyle, timeStyle, hourCycle }));
    }
  }
  // What stands between a date and a time; where the two together are no
  // composition, the whole.
  let exceptions = 0;
  for (const [dk, [date, , dopts]] of dates) {
    const glues = new Map();
    const seen = [];
    for (const [tk, [time, ztime, topts]] of times) for (const [zone, tail] of [[0, time], [1, ztime]]) {
      const whole = make({ ...dopts, ...topts, ...(zone ? { timeZoneName: "short" } : {}) });
      const glue = whole.startsWith(date) && whole.endsWith(tail) && whole.length >= date.length + tail.length ? whole.slice(date.length, whole.length - tail.length) : null;
      glues.set(glue, (glues.get(glue) ?? 0) + 1);
      seen.push([tk, zone, whole, glue]);
    }
    const main = [...glues].filter(([g]) => g !== null).sort((a, b) => b[1] - a[1])[0]?.[0];
    if (main !== undefined) put("G" + dk, main || "{}");
    for (const [tk, zone, whole, glue] of seen) if (glue !== main) { exceptions++; put((zone ? "b" : "B") + dk + tk, whole); }
  }
  // The other kinds of names of a zone come in other patterns here and there;
  // their keys end in a letter.
  const known = new Map();
  for (const [pattern, keys] of patterns) for (const key of keys) known.set(key, pattern);
  const special = (key, kind, pattern) => {
    if ((known.get(key + kind) ?? known.get(key)) === pattern) return;
    exceptions++;
    known.set(key + kind, put(key + kind, pattern));
  };
  for (const [kind, timeZoneName] of Object.entries(zoneKinds)) {
    for (const [dk, [, , dopts]] of dates) special("d" + dk, kind, make({ ...dopts, timeZoneName }));
    for (const [tk, [, , topts]] of times) special("t" + tk, kind, make({ ...topts, timeZoneName }));
    // Where date and time are joined, they are so for every kind.
    for (const key of [...known.keys()].filter(key => /^b\d+$/.test(key)))
      special(key, kind, make({ ...dates.get(key.slice(1, 5))[2], ...times.get(key.slice(5))[2], timeZoneName }));
  }
  let out = "";
  tables.lists.forEach((l, i) => { out += `N\t${i}\t${l}\n`; });
  for (const [pattern, keys] of patterns) out += `P\t${pattern}\t${keys.join(" ")}\n`;
  const hour = new Intl.DateTimeFormat(locale, { hour: "numeric" }).resolvedOptions().hourCycle;
  out += `H\t${hour}\n`;
  console.error(locale, patterns.size, "patterns,", exceptions, "exceptions,", out.length, "bytes");
  return out + numbers(locale);
}

// All codes that a currency can have; those of old ones have symbols too.
const letters = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"];
const codes = letters.flatMap(a => letters.flatMap(b => letters.map(c => a + b + c)));

function numbers(locale) {
  const part = (options, n, type) => new Intl.NumberFormat(locale, options).formatToParts(n).find(p => p.type === type)?.value ?? "";
  const shape = (options, n) => new Intl.NumberFormat(locale, options).formatToParts(n).map(p =>
    ({ integer: "#", decimal: "", fraction: "", group: "", currency: "¤", literal: p.value, minusSign: "-", plusSign: "+", percentSign: "%" })[p.type]).join("").replace(/#+/, "#");
  let out = `D\t${part({}, 1.5, "decimal")}\t${part({}, 1234567, "group")}\n`;
  const percent = { style: "percent" };
  for (const sign of ["-", "+"]) out += `R\tpercent\t${sign}\t${shape({ ...percent, signDisplay: "always" }, sign === "-" ? -1 : 1)}\n`;
  for (const currencySign of ["standard", "accounting"]) for (const currency of ["EUR", "CHF"]) for (const [name, signDisplay, n] of [["", "never", 1], ["-", "auto", -1], ["+", "always", 1]])
    out += `R\t${currencySign}${currency === "EUR" ? "" : "-letters"}\t${name}\t${shape({ style: "currency", currency, currencySign, signDisplay }, n)}\n`;
  for (const currency of codes) {
    const of = currencyDisplay => part({ style: "currency", currency, currencyDisplay }, 1, "currency");
    const [symbol, narrow] = [of("symbol"), of("narrowSymbol")];
    if (symbol !== currency || narrow !== currency) out += `C\t${currency}\t${symbol}\t${narrow}\n`;
  }
  return out;
}

function currencyDigits() {
  let out = "";
  for (const currency of codes) {
    const n = new Intl.NumberFormat("en", { style: "currency", currency }).resolvedOptions().maximumFractionDigits;
    if (n !== 2) out += `F\t${currency}\t${n}\n`;
  }
  return out;
}

// zones lists the zones with their names, by the offset in force and from
// when on; "=" is the name that is an offset.
function zones() {
  const names = readFileSync(0, "utf8").split("\n").filter(Boolean);
  const canonical = new Map();
  for (const n of names) try { canonical.set(n, new Intl.DateTimeFormat("en", { timeZone: n }).resolvedOptions().timeZone); } catch {}
  const sets = [];
  const lines = [];
  for (const zone of new Set(canonical.values())) {
    if (zone === "UTC") continue;
    const f = style => locales.map(l => new Intl.DateTimeFormat(l, { timeZone: zone, timeZoneName: style }));
    const all = { short: f("short"), long: f("long"), shortOffset: f("shortOffset"), longOffset: f("longOffset") };
    const name = (g, at) => g.formatToParts(at).find(p => p.type === "timeZoneName").value;
    const offset = at => {
      const m = /GMT(?:([+-])(\d+):(\d+)(?::(\d+))?)?/.exec(name(all.longOffset[0], at));
      return m[1] ? (m[1] === "-" ? -1 : 1) * (m[2] * 3600 + m[3] * 60 + (m[4] ?? 0) * 1) : 0;
    };
    const set = at => {
      const t = locales.flatMap((_, i) => [["short", "shortOffset"], ["long", "longOffset"]].map(([a, b]) => {
        const n = name(all[a][i], at);
        return n === name(all[b][i], at) ? "=" : n;
      })).join("|");
      let i = sets.indexOf(t);
      if (i < 0) i = sets.push(t) - 1;
      return i;
    };
    const fits = (map, at) => { const o = offset(at); return !map.has(o) || map.get(o) === set(at); };
    let map = new Map(), from = 0;
    const spans = [[from, map]];
    let before = 0;
    for (let y = 1970; y < 2038; y++) for (let m = 0; m < 12; m++) {
      const at = Date.UTC(y, m, 15);
      if (!fits(map, at)) {
        let lo = before, hi = at;
        while (hi - lo > 1000) { const mid = Math.floor((lo + hi) / 2000) * 1000; if (mid <= lo || mid >= hi) break; fits(map, mid) ? lo = mid : hi = mid; }
        map = new Map();
        spans.push([hi, map]);
        const o = offset(hi);
        map.set(o, set(hi));
      }
      map.set(offset(at), set(at));
      before = at;
    }
    lines.push(`Z\t${zone}\t${spans.map(([from, m]) => from / 1000 + ":" + [...m].map(([o, s]) => o + "=" + s).join(",")).join(";")}`);
  }
  let out = sets.map((s, i) => `S\t${i}\t${s}\n`).join("") + lines.join("\n") + "\n";
  for (const [n, c] of canonical) if (n !== c) out += `A\t${n}\t${c}\n`;
  return out;
}

const header = "# Written by generate.mjs from the data of the Unicode CLDR (see NOTICE).\n";
const wanted = process.argv.slice(2);
for (const l of wanted.length ? wanted : locales) {
  const text = build(l);
  writeFileSync(new URL(l + ".txt", import.meta.url), header + text);
}
if (wanted.length) process.exit();
writeFileSync(new URL("currencies.txt", import.meta.url), header + currencyDigits());
writeFileSync(new URL("zones.txt", import.meta.url), header + zones());
