// HN Search API of Algolia, "Full-text search" (hn.algolia.com/api).
if (query.trim() === "") {
  throw new Error("query must not be empty");
}
const { hits: count, tag: kind } = safety.check(args, {
  hits: { type: "integer", minimum: 1, maximum: 50, default: 5 },
  tag: {
    enum: ["story", "comment", "poll", "ask_hn", "show_hn", "front_page"],
    default: "story",
  },
});

const search = new URLSearchParams({
  query: query.trim(),
  hitsPerPage: String(count),
  tags: kind,
});
const resp = await fetch(`https://hn.algolia.com/api/v1/search?${search}`, {
  headers: { Accept: "application/json" },
  maxLength: 2_000_000,
});
resp.check("the Hacker News search", { truncated: "ask for fewer hits" });

const found = resp.json()?.hits;
if (!Array.isArray(found) || found.includes(null)) {
  throw new Error("the Hacker News search answered without a list of hits");
}
return found.map((hit) => ({
  id: hit.objectID,
  title: hit.title ?? hit.story_title ?? null,
  url: hit.url ?? hit.story_url ?? null,
  author: hit.author,
  points: hit.points ?? null,
  numComments: hit.num_comments ?? null,
  createdAt: hit.created_at,
  hnUrl: `https://news.ycombinator.com/item?id=${hit.objectID}`,
}));
