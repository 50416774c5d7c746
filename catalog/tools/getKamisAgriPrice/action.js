// KAMIS Open API, "periodProductList" (www.kamis.or.kr, customer service, Open API).
const classes = new Map([
  ["01", "retail"],
  ["02", "wholesale"],
]);
const productClass = classes.get(productClsCode || "02");
if (!productClass) {
  throw new Error('productClsCode must be "01" (retail) or "02" (wholesale)');
}
const category = itemCategoryCode || "400";
if (!/^[1-6]00$/.test(category) || !/^\d{3}$/.test(itemCode)) {
  throw new Error(
    "itemCategoryCode must be 100, 200 ... 600 and itemCode a number of three digits",
  );
}
if (kindCode && !/^\d{2}$/.test(kindCode)) {
  throw new Error("kindCode must be a number of two digits");
}
const day = (text, name) =>
  /^\d{4}-\d\d-\d\d$/.test(text) ? safety.time.parse(text, name) : NaN;
const days = (day(endDay, "endDay") - day(startDay, "startDay")) / 86_400_000;
if (!(days >= 0 && days <= 366)) {
  throw new Error(
    "startDay and endDay must be days as YYYY-MM-DD, in this order and at most a year apart",
  );
}

const search = new URLSearchParams({
  action: "periodProductList",
  p_productclscode: productClsCode || "02",
  p_startday: startDay,
  p_endday: endDay,
  p_itemcategorycode: category,
  p_itemcode: itemCode,
});
if (kindCode) {
  search.set("p_kindcode", kindCode);
}
search.set("p_convert_kg_yn", "N");
search.set("p_cert_key", kamisCertKey);
search.set("p_cert_id", kamisCertId);
search.set("p_returntype", "json");
const resp = await fetch(
  `https://www.kamis.or.kr/service/price/xml.do?${search}`,
  {
    headers: { "User-Agent": "toolwarrant" },
    maxLength: 5_000_000,
  },
);
resp.check("KAMIS", { truncated: "ask for fewer days" });

// How it went is a code: beside the entries, or alone in a list.
const data = resp.json()?.data;
const code = Array.isArray(data) ? data[0] : data?.error_code;
const reasons = {
  "001": "no data",
  200: "wrong parameters",
  900: "the keys are not valid",
};
if (code !== "000" && code !== "001") {
  throw new Error(
    `KAMIS refused the request (${code ?? "no code"}): ${reasons[code] ?? "no reason given"}; check KAMIS_CERT_ID and KAMIS_CERT_KEY`,
  );
}
const found = data?.item ?? [];
const items = [found].flat().filter(Boolean);
// An empty text is an empty list here.
const text = (value) =>
  typeof value === "string" && value !== "" ? value : null;
const rows = items.map((item) => {
  const date = `${item.yyyy}-${item.regday}`.replace("/", "-");
  const price = Number((text(item.price) ?? "-").replace(/,/g, ""));
  return {
    date: /^\d{4}-\d\d-\d\d$/.test(date) ? date : null,
    item: text(item.itemname),
    kind: text(item.kindname),
    county: text(item.countyname),
    market: text(item.marketname),
    price: Number.isFinite(price) ? price : null,
  };
});
return { productClass, itemCode, startDay, endDay, count: rows.length, rows };
