// Kakao Local API, search by keyword (developers.kakao.com/docs/latest/ko/local).
if (query.trim() === "") {
  throw new Error("query must not be empty");
}
const asked = safety.check(args, {
  size: { type: "integer", minimum: 1, maximum: 15, default: 5 },
  page: { type: "integer", minimum: 1, maximum: 45, default: 1 },
  radius: { type: "integer", minimum: 1, maximum: 20_000 },
});
const search = new URLSearchParams({
  query: query.trim(),
  size: String(asked.size),
  page: String(asked.page),
});
if (longitude || latitude) {
  // An empty text is no number here, though Number("") is 0.
  const x = longitude ? Number(longitude) : NaN;
  const y = latitude ? Number(latitude) : NaN;
  if (!(Math.abs(x) <= 180) || !(Math.abs(y) <= 90)) {
    throw new Error(
      "longitude and latitude must be given together, in decimal degrees",
    );
  }
  search.set("x", String(x));
  search.set("y", String(y));
}
if (asked.radius) {
  if (!search.has("x")) {
    throw new Error("radius needs longitude and latitude");
  }
  search.set("radius", String(asked.radius));
}

const resp = await fetch(
  `https://dapi.kakao.com/v2/local/search/keyword.json?${search}`,
  {
    headers: { Authorization: `KakaoAK ${kakaoRestApiKey}` },
    maxLength: 1_000_000,
  },
);
if (resp.status === 401 || resp.status === 403) {
  throw new Error(
    `Kakao refused the key (HTTP status ${resp.status}): check KAKAO_REST_API_KEY and that Kakao Map is enabled for it`,
  );
}
if (resp.status === 429) {
  throw new Error("Kakao takes no more requests for now with this key");
}
resp.check("Kakao", { truncated: "ask for a smaller size" });

const answer = resp.json();
if (!Array.isArray(answer?.documents) || answer?.documents.includes(null)) {
  throw new Error("Kakao answered without a list of places");
}
return {
  totalCount: answer.meta?.total_count ?? null,
  pageableCount: answer.meta?.pageable_count ?? null,
  isEnd: answer.meta?.is_end === true,
  places: answer.documents.map((place) => ({
    name: place.place_name,
    category: place.category_name || null,
    phone: place.phone || null,
    address: place.address_name || null,
    roadAddress: place.road_address_name || null,
    longitude: Number(place.x),
    latitude: Number(place.y),
    distanceMeters: place.distance ? Number(place.distance) : null,
    url: place.place_url || null,
  })),
};
