// GitHub REST API, "Get a user".
safety.check(args, {
  login: { format: "segment", description: "the login of an account" },
});

const resp = await fetch(`https://api.github.com/users/${login}`, {
  headers: {
    Accept: "application/vnd.github+json",
    "X-GitHub-Api-Version": "2022-11-28",
    "User-Agent": "toolwarrant",
  },
  maxLength: 500_000,
});
if (resp.status === 404) {
  return { found: false, login };
}
const wait = "without a key it takes 60 requests an hour, so wait";
resp.check("GitHub", { 403: wait, 429: wait });

const data = resp.json();
if (typeof data?.login !== "string") {
  throw new Error("GitHub answered without a profile");
}
return {
  login: data.login,
  type: data.type,
  name: data.name || null,
  company: data.company || null,
  blog: data.blog || null,
  location: data.location || null,
  bio: data.bio || null,
  twitterUsername: data.twitter_username || null,
  publicRepos: data.public_repos,
  followers: data.followers,
  following: data.following,
  htmlUrl: data.html_url,
  avatarUrl: data.avatar_url,
  createdAt: data.created_at,
};
