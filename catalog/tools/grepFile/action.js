if (limit !== undefined && (limit < 1 || limit > 10_000)) {
  throw new Error("limit must be from 1 to 10,000");
}
return safety.fs.grep(pattern, path, {
  caseInsensitive: caseInsensitive === true,
  numbered: numbered === true,
  limit: limit ?? 10_000,
});
