// GitHub REST API, "List repository contributors".
const { perPage: size } = safety.check(args, {
  owner: { format: "segment", description: "the login of an account" },
  repo: { format: "segment", description: "the name of a repository" },
  perPage: { type: "integer", minimum: 1, maximum: 100, default: 10 },
});

const resp = await fetch(
  `https://api.github.com/repos/${owner}/${repo}/contributors?per_page=${size}`,
  {
    headers: {
      Accept: "application/vnd.github+json",
      "X-GitHub-Api-Version": "2022-11-28",
      "User-Agent": "toolwarrant",
    },
    maxLength: 1_000_000,
  },
);
// An empty repository has no content to answer with.
if (resp.status === 204) {
  return [];
}

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
  throw new Error("GitHub answered without a list of contributors");
}
return list.map((entry) => ({
  login: entry.login,
  contributions: entry.contributions,
  htmlUrl: entry.html_url,
  avatarUrl: entry.avatar_url,
}));
