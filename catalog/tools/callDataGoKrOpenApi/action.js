// data.go.kr, the gateway of the Korean open data portal.
const segments = servicePath.trim().split("/").filter(Boolean);
if (segments.length < 2 || segments.some((part) => !/^\w[\w.-]*$/.test(part))) {
  throw new Error(
    'servicePath must be a path without host and query, such as "1741000/StanReginCd/getStanReginCdList"',
  );
}
// data.go.kr shows each key in two forms, of which one is percent-encoded.
const search = new URLSearchParams({
  serviceKey: dataGoKrKey.replace(/%(?:2B|2F|3D)/gi, decodeURIComponent),
});
for (const [name, value] of Object.entries(query ?? {})) {
  if (name.toLowerCase() === "servicekey") {
    throw new Error("query must not hold the key: it is added");
  }
  if (!["string", "number", "boolean"].includes(typeof value)) {
    throw new Error(`query.${name} must be a text, a number, true or false`);
  }
  search.set(name, String(value));
}
// How to ask for JSON differs between the services; these two are most common.
if (
  !["type", "_type", "returnType", "dataType", "resultType"].some((name) =>
    search.has(name),
  )
) {
  search.set("type", "json");
  search.set("_type", "json");
}

const resp = await fetch(
  `https://apis.data.go.kr/${segments.join("/")}?${search}`,
  {
    maxLength: 5_000_000,
  },
);
if (resp.status === 404) {
  throw new Error(`data.go.kr has no service at ${segments.join("/")}`);
}
const granted =
  "check DATA_GO_KR_KEY and that data.go.kr granted it for this service";
resp.check("data.go.kr", {
  401: granted,
  403: granted,
  truncated: "ask for fewer rows",
});
const { totalCount, pageNo, numOfRows, items, raw } = safety.parser.dataGoKr(
  resp.text(),
  { advice: granted, raw: true },
);
return { ok: true, totalCount, pageNo, numOfRows, items, raw };
