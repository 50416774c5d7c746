// iTunes Search API (Apple, "iTunes Search API" archive).
if (term.trim() === "") {
  throw new Error("term must not be empty");
}
const store = (country || "kr").trim().toLowerCase();
if (!/^[a-z]{2}$/.test(store)) {
  throw new Error('country must be a code of two letters, such as "kr"');
}
const { entity: kind, limit: count } = safety.check(args, {
  entity: {
    enum: ["song", "album", "musicArtist", "musicVideo"],
    default: "song",
  },
  limit: { type: "integer", minimum: 1, maximum: 50, default: 5 },
});

const search = new URLSearchParams({
  term: term.trim(),
  country: store,
  media: "music",
  entity: kind,
  limit: String(count),
});
const resp = await fetch(`https://itunes.apple.com/search?${search}`, {
  headers: { Accept: "application/json" },
  maxLength: 1_000_000,
});
if (resp.status === 403 || resp.status === 429) {
  throw new Error(
    `Apple takes no more requests for now (HTTP status ${resp.status}); wait a minute`,
  );
}
resp.check("iTunes", { truncated: "ask for a smaller limit" });

const found = resp.json()?.results;
if (!Array.isArray(found) || found.includes(null)) {
  throw new Error("iTunes answered without a list of results");
}
return {
  country: store,
  entity: kind,
  resultCount: found.length,
  results: found.map((entry) => ({
    trackName: entry.trackName ?? null,
    artistName: entry.artistName ?? null,
    collectionName: entry.collectionName ?? null,
    releaseDate: entry.releaseDate ?? null,
    genre: entry.primaryGenreName ?? null,
    previewUrl: entry.previewUrl ?? null,
    viewUrl:
      entry.trackViewUrl ??
      entry.collectionViewUrl ??
      entry.artistLinkUrl ??
      null,
    artworkUrl: entry.artworkUrl100 ?? null,
  })),
};
