// GitHub REST API, "Get the latest release". fetch reaches the hosts that
// spec.json lists, and no other; in a test, fixtures.json answers it.
// "." and ".." would lead the address elsewhere.
if (
  !/^[\w.-]{1,100}\/[\w.-]{1,100}$/.test(repository) ||
  /(^|\/)\.{1,2}(\/|$)/.test(repository)
) {
  throw new Error('repository must be OWNER/NAME, such as "golang/go"');
}

const answer = await fetch(
  `https://api.github.com/repos/${repository}/releases/latest`,
  {
    headers: {
      Accept: "application/vnd.github+json",
      "User-Agent": "toolwarrant",
    },
  },
);
if (answer.status === 404) {
  return { found: false, repository };
}
answer.check("GitHub"); // fails for any other status but success

const release = answer.json();
return {
  found: true,
  repository,
  tag: release.tag_name,
  title: release.name || release.tag_name,
  publishedAt: release.published_at,
  url: release.html_url,
};
