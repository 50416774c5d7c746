if (maxDepth !== undefined && maxDepth < 1) {
  throw new Error("maxDepth must be 1 or more");
}
const options = {};
if (maxDepth !== undefined) {
  options.maxDepth = maxDepth;
}
if (type) {
  options.type = type;
}
return safety.fs.find(dir || ".", glob || "*", options);
