// Upstream: any public web page; HTML as browsers read it.
const MAX_BYTES = 2_000_000;
const MAX_CONTENT = 50_000;
const MAX_LINKS = 100;
const NOISE = [
  "script, style, noscript, template, iframe, object, svg, canvas, form, dialog",
  "nav, header, footer, aside",
  "[role='navigation'], [role='banner'], [role='contentinfo'], [role='search']",
  "[hidden], [aria-hidden='true']",
  ".advertisement, .cookie-banner, .breadcrumb, .sidebar, .share, .social",
];

const url = URL.parse(pageUrl.trim());
if (!url || !["https:", "http:"].includes(url.protocol)) {
  throw new Error(
    `pageUrl must be a full http or https address, not "${pageUrl}"`,
  );
}
if (url.username || url.password) {
  throw new Error("pageUrl must not hold a user name or a password");
}
url.hash = "";

const resp = await fetch(url.href, {
  headers: {
    Accept: "text/html, application/xhtml+xml, text/plain;q=0.8",
    "User-Agent": "toolwarrant-page-reader",
  },
  maxLength: MAX_BYTES,
});
if (!resp.ok) {
  throw new Error(`the page answered with HTTP status ${resp.status}`);
}
const kind = (resp.contentType ?? "").split(";")[0].trim().toLowerCase();
if (!["text/html", "application/xhtml+xml", "text/plain"].includes(kind)) {
  throw new Error(
    `the page is ${kind || "of no stated kind"}; only HTML and plain text can be read`,
  );
}

// The charset stands in the header, or else near the beginning of the page.
const bytes = resp.bytes();
const start = new TextDecoder("latin1").decode(bytes.subarray(0, 1024));
const charset =
  /charset\s*=\s*["']?([\w.:-]+)/i.exec(resp.contentType) ??
  (kind === "text/plain"
    ? null
    : /<meta\s[^>]*charset\s*=\s*["']?\s*(?!utf-16)([\w.:-]+)/i.exec(start));
const decode = () => {
  const known = charset?.[1].toLowerCase() ?? "utf-8";
  // Where none is stated, what is not UTF-8 is refused, not guessed.
  const fatal = !charset && !resp.truncated;
  try {
    return new TextDecoder(known, { fatal }).decode(bytes);
  } catch {
    throw new Error(
      charset
        ? `the page is written in ${known}; only UTF-8, UTF-16LE and Latin-1 can be read`
        : "the page does not say how it is written, and it is not UTF-8",
    );
  }
};
const source = decode();

const trimmed = (text) => text.replace(/\s+/g, " ").trim();
if (kind === "text/plain") {
  return JSON.stringify({
    title: "",
    content: source.trim().slice(0, MAX_CONTENT),
    links: [],
  });
}

// Links are resolved against where the page came from in the end.
const page = safety.parser.html(source, resp.url);
const title = trimmed(page.title());
for (const selector of NOISE) {
  page.select(selector).remove();
}
const main =
  page.selectFirst("main, [role='main'], article") ?? page.body() ?? page;

const links = [];
const seen = new Set();
for (const anchor of main.select("a[href]")) {
  const target = URL.parse(anchor.attr("abs:href"));
  if (!target || !["https:", "http:"].includes(target.protocol)) {
    continue;
  }
  target.hash = "";
  if (seen.has(target.href) || target.href === url.href) {
    continue;
  }
  seen.add(target.href);
  links.push({ text: trimmed(anchor.text()).slice(0, 200), url: target.href });
  if (links.length === MAX_LINKS) {
    break;
  }
}

// One line for each block, so that headings and paragraphs stay apart.
for (const block of main.select(
  "h1, h2, h3, h4, h5, h6, p, li, tr, dt, dd, pre, blockquote, figcaption, br",
)) {
  block.append("\uE000");
}
const content = main
  .text()
  .split("\uE000")
  .map(trimmed)
  .filter(Boolean)
  .join("\n");
if (!title && !content) {
  throw new Error("the page has no text that can be read");
}
return JSON.stringify({ title, content: content.slice(0, MAX_CONTENT), links });
