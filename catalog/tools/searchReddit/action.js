// Reddit, /r/{subreddit}/search.json (www.reddit.com/dev/api).
const name = subreddit.trim().replace(/^\/?r\//, "");
if (!/^\w{2,21}$/.test(name)) {
  throw new Error('subreddit must be a name such as "programming"');
}
if (query.trim() === "" || query.length > 512) {
  throw new Error("query must have from 1 to 512 characters");
}
const { limit: count, sort: order } = safety.check(args, {
  limit: { type: "integer", minimum: 1, maximum: 100, default: 5 },
  sort: {
    enum: ["relevance", "hot", "top", "new", "comments"],
    default: "relevance",
  },
});

const search = new URLSearchParams({
  q: query.trim(),
  restrict_sr: "1",
  limit: String(count),
  sort: order,
});
const resp = await fetch(
  `https://www.reddit.com/r/${name}/search.json?${search}`,
  {
    headers: { Accept: "application/json", "User-Agent": "toolwarrant" },
    maxLength: 5_000_000,
  },
);
if (resp.status === 404) {
  throw new Error(`Reddit has no public subreddit ${name}`);
}
if (resp.status === 403 || resp.status === 429) {
  throw new Error(
    `Reddit refused the request (HTTP status ${resp.status}): the subreddit is private, or this address sends too much`,
  );
}
resp.check("Reddit", { truncated: "ask for a smaller limit" });

const children = resp.json()?.data?.children;
if (!Array.isArray(children)) {
  throw new Error("Reddit answered without a list of posts");
}
// Texts come with &amp;, &lt; and &gt; in place of the signs.
const plain = (text) =>
  (text ?? "")
    .replace(/&lt;/g, "<")
    .replace(/&gt;/g, ">")
    .replace(/&amp;/g, "&");
return children
  .map((child) => child?.data)
  .filter(Boolean)
  .map((post) => ({
    title: plain(post.title),
    author: post.author,
    subreddit: post.subreddit,
    score: post.score,
    numComments: post.num_comments,
    createdAt: Number.isFinite(post.created_utc)
      ? new Date(post.created_utc * 1000).toISOString()
      : null,
    permalink: `https://www.reddit.com${post.permalink}`,
    url: plain(post.url),
    text: plain(post.selftext).slice(0, 500),
  }));
