// Open Beauty Facts, API v2 of Open Food Facts, search. It asks for a
// User-Agent that names the application.
if (query.trim() === "") {
  throw new Error("query must not be empty");
}
const place = (country || "south-korea").trim().toLowerCase();
if (!/^[a-z]+(-[a-z]+)*$/.test(place)) {
  throw new Error(
    'country must be an English name with hyphens, such as "south-korea"',
  );
}
const { pageSize: size } = safety.check(args, {
  pageSize: { type: "integer", minimum: 1, maximum: 50, default: 5 },
});

const search = new URLSearchParams({
  search_terms: query.trim(),
  page_size: String(size),
  fields:
    "code,product_name,brands,categories,quantity,ingredients_text,image_url,url",
  countries_tags_en: place,
});
const resp = await fetch(
  `https://world.openbeautyfacts.org/api/v2/search?${search}`,
  {
    headers: { Accept: "application/json", "User-Agent": "toolwarrant" },
    maxLength: 2_000_000,
  },
);
if (resp.status === 429) {
  throw new Error(
    "Open Beauty Facts takes no more requests for now; it takes 10 searches a minute",
  );
}
resp.check("Open Beauty Facts", { truncated: "ask for a smaller pageSize" });

const answer = resp.json();
if (!Array.isArray(answer?.products) || answer?.products.includes(null)) {
  throw new Error("Open Beauty Facts answered without a list of products");
}
return {
  country: place,
  count: answer.count ?? answer.products.length,
  page: answer.page ?? 1,
  pageSize: size,
  products: answer.products.map((product) => ({
    code: product.code,
    name: product.product_name || null,
    brands: product.brands || null,
    categories: product.categories || null,
    quantity: product.quantity || null,
    ingredients: product.ingredients_text || null,
    imageUrl: product.image_url || null,
    url: product.url || null,
  })),
};
