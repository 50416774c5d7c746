// Stack Exchange API 2.3, /search/advanced.
if (query.trim() === "") {
  throw new Error("query must not be empty");
}
const { pageSize: size, sort: order } = safety.check(args, {
  pageSize: { type: "integer", minimum: 1, maximum: 100, default: 5 },
  sort: {
    enum: ["relevance", "votes", "activity", "creation"],
    default: "relevance",
  },
});

const search = new URLSearchParams({
  order: "desc",
  sort: order,
  q: query.trim(),
  site: "stackoverflow",
  pagesize: String(size),
});
if (tags) {
  search.set("tagged", tags);
}
const resp = await fetch(
  `https://api.stackexchange.com/2.3/search/advanced?${search}`,
  {
    headers: { Accept: "application/json" },
    maxLength: 2_000_000,
  },
);
// A request that it refuses is a 400 with the reason in JSON.
if (resp.status === 400) {
  const refusal = resp.json();
  throw new Error(
    `Stack Exchange refused the search: ${refusal?.error_message ?? "no reason given"}`,
  );
}
resp.check("Stack Exchange", { truncated: "ask for a smaller pageSize" });

const found = resp.json()?.items;
if (!Array.isArray(found) || found.includes(null)) {
  throw new Error("Stack Exchange answered without a list of questions");
}
return found.map((question) => ({
  id: question.question_id,
  // Titles come with the entities of HTML.
  title: safety.parser.html(question.title ?? "").text(),
  link: question.link,
  score: question.score,
  answerCount: question.answer_count,
  isAnswered: question.is_answered === true,
  viewCount: question.view_count,
  tags: question.tags ?? [],
  createdAt: Number.isFinite(question.creation_date)
    ? new Date(question.creation_date * 1000).toISOString()
    : null,
}));
