// GitHub REST API, "List repository issues"; it lists pull requests as well.
const asked = safety.check(args, {
  owner: { format: "segment", description: "the login of an account" },
  repo: { format: "segment", description: "the name of a repository" },
  state: { enum: ["open", "closed", "all"], default: "open" },
  perPage: { type: "integer", minimum: 1, maximum: 100, default: 10 },
  page: { type: "integer", minimum: 1, default: 1 },
});

const resp = await fetch(
  `https://api.github.com/repos/${owner}/${repo}/issues?state=${asked.state}&per_page=${asked.perPage}&page=${asked.page}`,
  {
    headers: {
      Accept: "application/vnd.github+json",
      "X-GitHub-Api-Version": "2022-11-28",
      "User-Agent": "toolwarrant",
    },
    maxLength: 2_000_000,
  },
);
if (resp.status === 404) {
  throw new Error(`GitHub has no public repository ${owner}/${repo}`);
}
const wait = "without a key it takes 60 requests an hour, so wait";
resp.check("GitHub", {
  403: wait,
  429: wait,
  truncated: "ask for fewer entries with perPage",
});

const list = resp.json();
if (!Array.isArray(list) || list.includes(null)) {
  throw new Error("GitHub answered without a list of issues");
}
return list
  .filter((entry) => !entry.pull_request)
  .map((entry) => ({
    number: entry.number,
    title: entry.title,
    state: entry.state,
    author: entry.user?.login ?? null,
    // A label is an object or, from older services, its name.
    labels: (entry.labels ?? []).map((label) => label?.name ?? label),
    comments: entry.comments,
    createdAt: entry.created_at,
    updatedAt: entry.updated_at,
    htmlUrl: entry.html_url,
  }));
