// arXiv API, query interface (info.arxiv.org/help/api); it answers in Atom.
if (query.trim() === "") {
  throw new Error("query must not be empty");
}
const { max: count, sortBy: order } = safety.check(args, {
  max: { type: "integer", minimum: 1, maximum: 50, default: 5 },
  sortBy: {
    enum: ["relevance", "submittedDate", "lastUpdatedDate"],
    default: "relevance",
  },
});

const search = new URLSearchParams({
  search_query: query.trim(),
  max_results: String(count),
  sortBy: order,
  sortOrder: "descending",
});
const resp = await fetch(`https://export.arxiv.org/api/query?${search}`, {
  maxLength: 2_000_000,
});
resp.check("arXiv", { truncated: "ask for a smaller max" });

const feed = safety.parser.xml(resp.text());
if (feed.tag !== "feed") {
  throw new Error("arXiv answered without a list of papers");
}
const child = (node, tag) => node.children.find((inner) => inner.tag === tag);
const text = (node, tag) =>
  (child(node, tag)?.text ?? "").replace(/\s+/g, " ").trim();
const secure = (url) => (url ? url.replace(/^http:/, "https:") : null);

return feed.children
  .filter((node) => node.tag === "entry")
  .map((entry) => {
    const id = text(entry, "id");
    // A query that arXiv does not understand is an entry, too.
    if (id.includes("/api/errors")) {
      throw new Error(`arXiv refused the query: ${text(entry, "summary")}`);
    }
    const links = entry.children.filter((node) => node.tag === "link");
    const category =
      child(entry, "arxiv:primary_category") ?? child(entry, "category");
    return {
      id: id.replace(/^.*\/abs\//, ""),
      title: text(entry, "title"),
      summary: text(entry, "summary"),
      authors: entry.children
        .filter((node) => node.tag === "author")
        .map((author) => text(author, "name")),
      published: text(entry, "published"),
      updated: text(entry, "updated"),
      primaryCategory: category?.attrs.term ?? null,
      pageUrl: secure(id),
      pdfUrl: secure(
        links.find((link) => link.attrs.title === "pdf")?.attrs.href,
      ),
    };
  });
