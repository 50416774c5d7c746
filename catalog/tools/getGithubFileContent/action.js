// GitHub REST API, "Get repository content".
safety.check(args, {
  owner: { format: "segment", description: "the login of an account" },
  repo: { format: "segment", description: "the name of a repository" },
});

const parts = path.split("/").filter((part) => part !== "" && part !== ".");
if (path.trim() === "" || parts.includes("..")) {
  throw new Error(
    'path must lead to a file or folder of the repository, without ".."',
  );
}

const query = ref ? `?ref=${encodeURIComponent(ref)}` : "";
const resp = await fetch(
  `https://api.github.com/repos/${owner}/${repo}/contents/${parts.map(encodeURIComponent).join("/")}${query}`,
  {
    headers: {
      Accept: "application/vnd.github+json",
      "X-GitHub-Api-Version": "2022-11-28",
      "User-Agent": "toolwarrant",
    },
    maxLength: 3_000_000,
  },
);
if (resp.status === 404) {
  return { found: false, owner, repo, path };
}
const wait = "without a key it takes 60 requests an hour, so wait";
resp.check("GitHub", { 403: wait, 429: wait });

const data = resp.json();
if (Array.isArray(data)) {
  return data.filter(Boolean).map((entry) => ({
    name: entry.name,
    path: entry.path,
    type: entry.type,
    sizeBytes: entry.size,
    htmlUrl: entry.html_url,
  }));
}
if (data?.type !== "file") {
  throw new Error(
    `${path} is neither a file nor a folder (${data?.type ?? "unknown"})`,
  );
}
// GitHub leaves the content out of files over 1 MB.
if (data.encoding !== "base64" || typeof data.content !== "string") {
  throw new Error(`${path} is larger than 1 MB, which GitHub does not return`);
}
const bytes = Uint8Array.from(atob(data.content.replace(/\s/g, "")), (c) =>
  c.charCodeAt(0),
);
let content;
try {
  content = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
} catch {
  throw new Error(`${path} is not a UTF-8 text file`);
}
return {
  path: data.path,
  sha: data.sha,
  sizeBytes: data.size,
  htmlUrl: data.html_url,
  content,
};
