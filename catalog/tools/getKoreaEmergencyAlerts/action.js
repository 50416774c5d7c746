// Ministry of the Interior and Safety on data.go.kr, "getDisasterMsg1List" of
// DisasterMsg3. It has no filters: those of the tool keep entries of the page.
const paging = safety.check(args, {
  pageNo: { type: "integer", minimum: 1, maximum: 10_000, default: 1 },
  numOfRows: { type: "integer", minimum: 1, maximum: 1000, default: 10 },
});
safety.check(args, {
  fromDate: { format: "basic-date" },
  toDate: { format: "basic-date" },
});
if (fromDate && toDate && fromDate > toDate) {
  throw new Error("fromDate must not be after toDate");
}

const search = new URLSearchParams({
  // data.go.kr shows each key in two forms, of which one is percent-encoded.
  serviceKey: dataGoKrDisasterKey.replace(
    /%(?:2B|2F|3D)/gi,
    decodeURIComponent,
  ),
  type: "json",
  numOfRows: String(paging.numOfRows),
  pageNo: String(paging.pageNo),
});
const resp = await fetch(
  `https://apis.data.go.kr/1741000/DisasterMsg3/getDisasterMsg1List?${search}`,
  {
    maxLength: 2_000_000,
  },
);
const fewer = "ask for fewer with numOfRows";
const granted =
  "check DATA_GO_KR_DISASTER_KEY and that data.go.kr granted it for this service";
resp.check("data.go.kr", { 401: granted, 403: granted, truncated: fewer });
const found = safety.parser.dataGoKr(resp.text(), { advice: granted });
const items = found.items.filter(Boolean).filter((row) => {
  const day = (row.create_date ?? "").slice(0, 10).replace(/\D/g, "");
  return (
    (!area || (row.location_name ?? "").includes(area.trim())) &&
    (!fromDate || day >= fromDate) &&
    (!toDate || day <= toDate)
  );
});
return {
  totalCount: found.totalCount ?? 0,
  ...paging,
  items: items.map((row) => ({
    id: row.md101_sn,
    sentAt: row.create_date ?? null,
    area: row.location_name ?? null,
    message: row.msg,
    platform: row.send_platform ?? null,
  })),
};
