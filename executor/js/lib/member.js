(function (object, key, value) {
  return { ...object, [key]: value };
})
