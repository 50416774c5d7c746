for (const field of fields) {
  if (!Number.isInteger(field) || field < 1) {
    throw new Error("fields must be whole numbers from 1 on, such as [1, 3]");
  }
}
return safety.fs.cut(path, {
  fields,
  delimiter: delimiter || "\t",
  regex: regex === true,
});
