// Upstream: Custom Search JSON API, method cse.list
// (https://developers.google.com/custom-search/v1/reference/rest/v1/cse/list).
const { resultNum: size, startPage: page } = safety.check(args, {
  resultNum: { type: "integer", minimum: 1, maximum: 10, default: 5 },
  startPage: { type: "integer", default: 1 },
});
if (!query.trim()) {
  throw new Error("query must not be empty");
}
// The API counts results, from 1 on, and ends with the hundredth.
const first = (page - 1) * size + 1;
if (page < 1 || first + size - 1 > 100) {
  throw new Error(
    "startPage must be 1 or more, and its results among the first 100",
  );
}

const parameters = new URLSearchParams({
  key: googleApiKey,
  cx: pseId,
  q: query.trim(),
  start: String(first),
  num: String(size),
});
const resp = await fetch(
  `https://www.googleapis.com/customsearch/v1?${parameters}`,
  { headers: { Accept: "application/json" }, maxLength: 2_000_000 },
);
if (!resp.ok) {
  let why = "";
  try {
    why = resp.json()?.error?.message ?? "";
  } catch {
    // The status alone has to do.
  }
  throw new Error(
    `Google answered with HTTP status ${resp.status}${why ? `: ${why}` : ""}`,
  );
}
const answer = resp.json();
if (answer === null || typeof answer !== "object" || Array.isArray(answer)) {
  throw new Error("Google answered with something that is no search result");
}
if (answer.error) {
  throw new Error(
    `Google refused the search: ${answer.error.message ?? "no reason given"}`,
  );
}
return answer;
