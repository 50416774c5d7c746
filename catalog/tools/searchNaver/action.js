// Naver Search API (developers.naver.com/docs/serviceapi/search).
if (query.trim() === "") {
  throw new Error("query must not be empty");
}
const asked = safety.check(args, {
  type: {
    enum: "blog news book encyc cafearticle kin local webkr image shop doc".split(
      " ",
    ),
    default: "blog",
  },
  display: { type: "integer", minimum: 1, maximum: 100, default: 5 },
  start: { type: "integer", minimum: 1, maximum: 1000, default: 1 },
});

const search = new URLSearchParams({
  query: query.trim(),
  display: String(asked.display),
  start: String(asked.start),
});
const resp = await fetch(
  `https://openapi.naver.com/v1/search/${asked.type}.json?${search}`,
  {
    headers: {
      "X-Naver-Client-Id": naverClientId,
      "X-Naver-Client-Secret": naverClientSecret,
    },
    maxLength: 2_000_000,
  },
);
if (resp.status === 401 || resp.status === 403) {
  throw new Error(
    `Naver refused the keys (HTTP status ${resp.status}): check NAVER_CLIENT_ID and NAVER_CLIENT_SECRET and that the search is enabled for them`,
  );
}
if (resp.status === 429) {
  throw new Error("Naver takes no more requests today with these keys");
}
resp.check("Naver", { truncated: "ask for a smaller display" });

const answer = resp.json();
if (!Array.isArray(answer?.items) || answer?.items.includes(null)) {
  throw new Error("Naver answered without a list of results");
}
// Matches are marked with <b>, and signs are entities of HTML.
const plain = (text) => (text ? safety.parser.html(text).text() : text);
return {
  type: asked.type,
  total: answer.total,
  start: answer.start,
  display: answer.display,
  items: answer.items.map((item) => ({
    ...item,
    title: plain(item.title),
    description: plain(item.description),
  })),
};
