// GitHub REST API, "List repository issues"; it lists pull requests as well.
if (!/^[\w-]{1,39}$/.test(owner)) {
  throw new Error("owner must be the login of a GitHub user or organization");
}
if (!/^[\w.-]{1,100}$/.test(repo) || /^\.+$/.test(repo)) {
  throw new Error("repo must be the name of a repository without its owner");
}

const wanted = state || "open";
if (!["open", "closed", "all"].includes(wanted)) {
  throw new Error('state must be "open", "closed" or "all"');
}

const size = perPage ?? 10;
if (size < 1 || size > 100) {
  throw new Error("perPage must be from 1 to 100");
}

const number = page ?? 1;
if (number < 1) {
  throw new Error("page must be 1 or more");
}

const resp = await fetch(
  `https://api.github.com/repos/${owner}/${repo}/issues?state=${wanted}&per_page=${size}&page=${number}`,
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
