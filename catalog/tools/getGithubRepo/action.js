// GitHub REST API, "Get a repository".
safety.check(args, {
  owner: { format: "segment", description: "the login of an account" },
  repo: { format: "segment", description: "the name of a repository" },
});

const resp = await fetch(`https://api.github.com/repos/${owner}/${repo}`, {
  headers: {
    Accept: "application/vnd.github+json",
    "X-GitHub-Api-Version": "2022-11-28",
    "User-Agent": "toolwarrant",
  },
  maxLength: 1_000_000,
});
if (resp.status === 404) {
  return { found: false, owner, repo };
}
const wait = "without a key it takes 60 requests an hour, so wait";
resp.check("GitHub", { 403: wait, 429: wait });

const data = resp.json();
if (typeof data?.full_name !== "string") {
  throw new Error("GitHub answered without a repository");
}
return {
  fullName: data.full_name,
  description: data.description ?? null,
  htmlUrl: data.html_url,
  language: data.language ?? null,
  license: data.license?.spdx_id ?? null,
  stars: data.stargazers_count,
  forks: data.forks_count,
  openIssues: data.open_issues_count,
  topics: data.topics ?? [],
  defaultBranch: data.default_branch,
  createdAt: data.created_at,
  pushedAt: data.pushed_at,
};
