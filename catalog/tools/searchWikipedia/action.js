// Wikimedia REST API, "Get basic metadata and simplified content of a page".
const name = title.trim();
// Dots alone would be path segments, not a title.
if (name === "" || name.length > 255 || /^\.+$/.test(name)) {
  throw new Error(
    "title must be the title of an article, of at most 255 characters",
  );
}
const edition = (lang || "en").toLowerCase();
if (!["en", "ko", "ja", "es", "de", "fr", "zh"].includes(edition)) {
  throw new Error("lang must be en, ko, ja, es, de, fr or zh");
}

const resp = await fetch(
  `https://${edition}.wikipedia.org/api/rest_v1/page/summary/${encodeURIComponent(name.replace(/\s+/g, "_"))}`,
  {
    headers: { Accept: "application/json", "User-Agent": "toolwarrant" },
    maxLength: 500_000,
  },
);
if (resp.status === 404) {
  return { found: false, title: name };
}
resp.check("Wikipedia");

const page = resp.json();
if (typeof page?.title !== "string") {
  throw new Error("Wikipedia answered without an article");
}
return {
  title: page.title,
  description: page.description ?? null,
  extract: page.extract ?? null,
  thumbnail: page.thumbnail?.source ?? null,
  pageUrl: page.content_urls?.desktop?.page ?? null,
};
