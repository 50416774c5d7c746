// data.go.kr, the gateway of the Korean open data portal. Its services answer
// in some few forms, of which each is looked for.
const segments = servicePath.trim().split("/").filter(Boolean);
if (segments.length < 2 || segments.some((part) => !/^\w[\w.-]*$/.test(part))) {
  throw new Error(
    'servicePath must be a path without host and query, such as "1741000/StanReginCd/getStanReginCdList"',
  );
}
// data.go.kr shows each key in two forms, of which one is percent-encoded.
const key = dataGoKrKey.replace(/%(?:2B|2F|3D)/gi, decodeURIComponent);
const search = new URLSearchParams({ serviceKey: key });
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
// What the gateway itself refuses is a 200 in XML, whatever form was asked for.
const text = resp.text();
const refusal = /^\s*<.*<(?:errMsg|returnAuthMsg)>([^<]*)</s.exec(text);
if (refusal) {
  const advice = /KEY|ACCESS/.test(refusal[1]) ? `; ${granted}` : "";
  throw new Error(`data.go.kr refused the request: ${refusal[1]}${advice}`);
}

// An element of XML with elements in it becomes an object, others their text.
const plain = (node) => {
  if (node.children.length === 0) {
    return node.text;
  }
  const out = {};
  for (const child of node.children) {
    const value = plain(child);
    if (!Object.hasOwn(out, child.tag)) {
      out[child.tag] = value;
    } else if (Array.isArray(out[child.tag])) {
      out[child.tag].push(value);
    } else {
      out[child.tag] = [out[child.tag], value];
    }
  }
  return out;
};
const answer = text.trimStart().startsWith("<")
  ? plain(safety.parser.xml(text))
  : resp.json();
if (answer === null || typeof answer !== "object") {
  throw new Error("data.go.kr answered with neither an object nor a list");
}

// Form 1: header and body, with or without "response" around them.
// Form 2: a list under the name of the service, with "head" and "row".
const wrapped = answer.response ?? answer;
const listed = Object.values(answer).find(
  (value) => Array.isArray(value) && value[0]?.head,
);
const head = Object.assign({}, ...(listed?.[0].head ?? []));
const result =
  wrapped.header ?? wrapped.cmmMsgHeader ?? head.RESULT ?? answer.RESULT ?? {};
// What refuses a call without an envelope has a code below 0.
const code = String(
  result.resultCode ?? (answer.code < 0 ? answer.code : "00"),
);
// 03 and INFO-3 are the words for "no data".
if (!/^(0+|03|INFO-0+|INFO-3)$/.test(code)) {
  throw new Error(
    `data.go.kr refused the request (${code}): ${result.resultMsg ?? answer.msg ?? "no reason given"}`,
  );
}
const body = wrapped.body ?? head;
// Form 3: "data" beside the counts.
const found = body.items?.item ?? body.items ?? listed?.[1]?.row ?? answer.data;
const count = (value) =>
  value === undefined || value === "" ? null : Number(value);
return {
  ok: true,
  totalCount: count(body.totalCount ?? answer.totalCount),
  pageNo: count(body.pageNo ?? answer.page),
  numOfRows: count(body.numOfRows ?? answer.perPage),
  items: Array.isArray(found) ? found : found ? [found] : [],
  raw:
    found === undefined && code !== "03" && code !== "INFO-3" ? answer : null,
};
