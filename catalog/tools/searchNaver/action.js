// Naver Search API (developers.naver.com/docs/serviceapi/search).
const whole = (text, name, fallback, most) => {
  const value = text ? Number(text) : fallback;
  if (!Number.isInteger(value) || value < 1 || value > most) {
    throw new Error(`${name} must be a whole number from 1 to ${most}`);
  }
  return value;
};
if (query.trim() === "") {
  throw new Error("query must not be empty");
}
const kind = type || "blog";
const kinds =
  "blog news book encyc cafearticle kin local webkr image shop doc".split(" ");
if (!kinds.includes(kind)) {
  throw new Error(`type must be one of ${kinds.join(", ")}`);
}

const search = new URLSearchParams({
  query: query.trim(),
  display: String(whole(display, "display", 5, 100)),
  start: String(whole(start, "start", 1, 1000)),
});
const resp = await fetch(
  `https://openapi.naver.com/v1/search/${kind}.json?${search}`,
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
  type: kind,
  total: answer.total,
  start: answer.start,
  display: answer.display,
  items: answer.items.map((item) => ({
    ...item,
    title: plain(item.title),
    description: plain(item.description),
  })),
};
