// GitHub REST API, "List releases".
if (!/^[\w-]{1,39}$/.test(owner)) {
  throw new Error("owner must be the login of a GitHub user or organization");
}
if (!/^[\w.-]{1,100}$/.test(repo) || /^\.+$/.test(repo)) {
  throw new Error("repo must be the name of a repository without its owner");
}

const size = perPage ?? 5;
if (size < 1 || size > 100) {
  throw new Error("perPage must be from 1 to 100");
}

const resp = await fetch(
  `https://api.github.com/repos/${owner}/${repo}/releases?per_page=${size}`,
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
  throw new Error("GitHub answered without a list of releases");
}
return list.map((entry) => ({
  tagName: entry.tag_name,
  name: entry.name || null,
  prerelease: entry.prerelease === true,
  publishedAt: entry.published_at ?? null,
  author: entry.author?.login ?? null,
  notes: (entry.body ?? "").slice(0, 2000),
  htmlUrl: entry.html_url,
}));
