// Seoul Open Data, "culturalEventInfo" (data.seoul.go.kr, OA-15486). The
// service is at port 8088 and has no https; its key stands in the path.
const { startIndex: first } = safety.check(args, {
  startIndex: { type: "integer", minimum: 1, default: 1 },
  eventDate: { format: "date" },
});
const { endIndex: last } = safety.check(args, {
  endIndex: { type: "integer", minimum: 1, default: first + 9 },
});
if (last < first || last - first >= 1000) {
  throw new Error(
    "endIndex must not be before startIndex, and at most 999 after it",
  );
}
if ([codename, titleSearch].some((text) => /^\.+$/.test((text || "").trim()))) {
  throw new Error("codename and titleSearch must be texts to look for");
}

// The filters are segments of the path; a blank stands for one that is not set.
const filters = [codename, titleSearch, eventDate].map(
  (text) => (text || "").trim() || " ",
);
while (filters.at(-1) === " ") {
  filters.pop();
}
const path = [
  seoulOpenApiKey,
  "json",
  "culturalEventInfo",
  first,
  last,
  ...filters,
]
  .map(encodeURIComponent)
  .join("/");
const resp = await fetch(`http://openapi.seoul.go.kr:8088/${path}`, {
  headers: { Accept: "application/json" },
  maxLength: 5_000_000,
});
resp.check("Seoul Open Data", { truncated: "ask for fewer entries" });

// A refusal has RESULT at the top; INFO-200 is the word for "no data".
const answer = resp.json();
const list = answer?.culturalEventInfo;
const result = list?.RESULT ?? answer?.RESULT;
if (result?.CODE !== "INFO-000" && result?.CODE !== "INFO-200") {
  throw new Error(
    `Seoul Open Data refused the request (${result?.CODE ?? "no code"}): ${result?.MESSAGE ?? "no reason given"}; check SEOUL_OPEN_API_KEY`,
  );
}
// Which of the two numbers is which shows in their size: the service has them
// the wrong way round in a part of its entries.
const longitude = ({ LOT, LAT }) => [LOT, LAT].map(Number).find((n) => n > 90);
const latitude = ({ LOT, LAT }) =>
  [LOT, LAT].map(Number).find((n) => n > 0 && n <= 90);
return {
  totalCount: list?.list_total_count ?? 0,
  events: (list?.row ?? []).filter(Boolean).map((row) => ({
    title: row.TITLE,
    kind: row.CODENAME || null,
    district: row.GUNAME || null,
    place: row.PLACE || null,
    date: row.DATE || null,
    organizer: row.ORG_NAME || null,
    target: row.USE_TRGT || null,
    fee: row.USE_FEE || null,
    isFree: row.IS_FREE ? row.IS_FREE === "무료" : null,
    longitude: longitude(row) ?? null,
    latitude: latitude(row) ?? null,
    url: row.HMPG_ADDR || row.ORG_LINK || null,
    imageUrl: row.MAIN_IMG || null,
  })),
};
