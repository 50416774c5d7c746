// GitHub REST API, "Get the latest release".
safety.check(args, {
  owner: { format: "segment", description: "the login of an account" },
  repo: { format: "segment", description: "the name of a repository" },
});

const resp = await fetch(
  `https://api.github.com/repos/${owner}/${repo}/releases/latest`,
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
  return { found: false, owner, repo };
}
const wait = "without a key it takes 60 requests an hour, so wait";
resp.check("GitHub", { 403: wait, 429: wait });

const data = resp.json();
if (typeof data?.tag_name !== "string") {
  throw new Error("GitHub answered without a release");
}
return {
  tagName: data.tag_name,
  name: data.name || null,
  publishedAt: data.published_at ?? null,
  author: data.author?.login ?? null,
  notes: (data.body ?? "").slice(0, 10_000),
  htmlUrl: data.html_url,
  assets: (data.assets ?? []).filter(Boolean).map((asset) => ({
    name: asset.name,
    sizeBytes: asset.size,
    downloads: asset.download_count,
    downloadUrl: asset.browser_download_url,
  })),
};
