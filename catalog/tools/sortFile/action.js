return safety.fs.sort(path, {
  reverse: reverse === true,
  numeric: numeric === true,
  caseInsensitive: caseInsensitive === true,
  unique: unique === true,
});
