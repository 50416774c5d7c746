// Ministry of the Interior and Safety on data.go.kr, "getDisasterMsg1List" of
// DisasterMsg3. It has no filters: those of the tool keep entries of the page.
const rows = Number(numOfRows || 10);
const page = Number(pageNo || 1);
const within = (n, most) => Number.isInteger(n) && n >= 1 && n <= most;
if (!within(rows, 1000) || !within(page, 10_000)) {
  throw new Error(
    "numOfRows must be a whole number from 1 to 1000 and pageNo one from 1 to 10000",
  );
}
for (const [name, value] of Object.entries({ fromDate, toDate })) {
  if (value && !/^\d{8}$/.test(value)) {
    throw new Error(`${name} must be a day as YYYYMMDD`);
  }
}
if (fromDate && toDate && fromDate > toDate) {
  throw new Error("fromDate must not be after toDate");
}
// data.go.kr shows each key in two forms, of which one is percent-encoded.
const key = dataGoKrDisasterKey.replace(/%(?:2B|2F|3D)/gi, decodeURIComponent);

const search = new URLSearchParams({
  serviceKey: key,
  type: "json",
  numOfRows: String(rows),
  pageNo: String(page),
});
const resp = await fetch(
  `https://apis.data.go.kr/1741000/DisasterMsg3/getDisasterMsg1List?${search}`,
  {
    maxLength: 2_000_000,
  },
);
const granted =
  "check DATA_GO_KR_DISASTER_KEY and that data.go.kr granted it for this service";
resp.check("data.go.kr", {
  401: granted,
  403: granted,
  truncated: "ask for fewer with numOfRows",
});
// What the gateway itself refuses is a 200 in XML, whatever form was asked for.
const refusal = /^\s*<.*<(?:errMsg|returnAuthMsg)>([^<]*)</s.exec(resp.text());
if (refusal) {
  const advice = /KEY|ACCESS/.test(refusal[1]) ? `; ${granted}` : "";
  throw new Error(`data.go.kr refused the request: ${refusal[1]}${advice}`);
}
// A list of two: "head" with the counts and the result, "row" with the entries.
const answer = resp.json();
const list = answer?.DisasterMsg;
const head = Object.assign({}, ...(list?.[0]?.head ?? []));
const result = head.RESULT ?? answer?.RESULT;
// INFO-3 is the word for "no data".
if (result?.resultCode !== "INFO-0" && result?.resultCode !== "INFO-3") {
  throw new Error(
    `data.go.kr refused the request: ${result?.resultMsg ?? "no result code"}`,
  );
}
const items = (list?.[1]?.row ?? []).filter(Boolean).filter((row) => {
  const day = (row.create_date ?? "").slice(0, 10).replace(/\D/g, "");
  return (
    (!area || (row.location_name ?? "").includes(area.trim())) &&
    (!fromDate || day >= fromDate) &&
    (!toDate || day <= toDate)
  );
});
return {
  totalCount: head.totalCount ?? 0,
  pageNo: page,
  numOfRows: rows,
  items: items.map((row) => ({
    id: row.md101_sn,
    sentAt: row.create_date ?? null,
    area: row.location_name ?? null,
    message: row.msg,
    platform: row.send_platform ?? null,
  })),
};
