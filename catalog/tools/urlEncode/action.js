try {
  return encodeURIComponent(text);
} catch (error) {
  if (!(error instanceof URIError)) {
    throw error;
  }
  throw new Error("text has half of a surrogate pair, which has no UTF-8 form");
}
