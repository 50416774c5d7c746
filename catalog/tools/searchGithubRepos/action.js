// GitHub REST API, "Search repositories".
if (query.trim() === "" || query.length > 256) {
  throw new Error("query must have from 1 to 256 characters");
}
const asked = safety.check(args, {
  sort: {
    enum: ["stars", "forks", "help-wanted-issues", "updated", "best-match"],
    default: "stars",
  },
  perPage: { type: "integer", minimum: 1, maximum: 100, default: 5 },
});

const search = new URLSearchParams({
  q: query.trim(),
  per_page: String(asked.perPage),
});
// The best match is what GitHub gives when no order is asked for.
if (asked.sort !== "best-match") {
  search.set("sort", asked.sort);
  search.set("order", "desc");
}

const resp = await fetch(
  `https://api.github.com/search/repositories?${search}`,
  {
    headers: {
      Accept: "application/vnd.github+json",
      "X-GitHub-Api-Version": "2022-11-28",
      "User-Agent": "toolwarrant",
    },
    maxLength: 2_000_000,
  },
);
if (resp.status === 422) {
  throw new Error("GitHub does not understand the query; check its qualifiers");
}
const wait = "without a key it takes 10 searches a minute, so wait";
resp.check("GitHub", {
  403: wait,
  429: wait,
  truncated: "ask for fewer entries with perPage",
});

const found = resp.json()?.items;
if (!Array.isArray(found) || found.includes(null)) {
  throw new Error("GitHub answered without a list of repositories");
}
return found.map((entry) => ({
  fullName: entry.full_name,
  description: entry.description ?? null,
  stars: entry.stargazers_count,
  forks: entry.forks_count,
  language: entry.language ?? null,
  updatedAt: entry.updated_at,
  htmlUrl: entry.html_url,
}));
