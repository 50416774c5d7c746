// Array.from and the same of typed arrays, which the engine gets wrong with a
// native function as mapper and with strings. Loaded for programs that name
// them; it is not charged.
(function (MAX, typed) {
  "use strict";
  const defineProperty = Object.defineProperty, apply = Reflect.apply;
  const method = (obj, fns) => { for (const key of Object.keys(fns)) defineProperty(obj, key, { value: fns[key], writable: true, enumerable: false, configurable: true }); };
  const put = (obj, key, value) => defineProperty(obj, key, { value, writable: true, enumerable: true, configurable: true });
  const need = (f) => { if (typeof f !== "function") throw new TypeError(String(f) + " is not a function"); };
  const arrayFrom = Array.from;
  const ArrayCtor = Array;
  const iteratorKey = Symbol.iterator;
  method(Array, {
    from(items, mapFn, self) {
      if (mapFn === undefined || items === null || items === undefined || items[iteratorKey] != null) {
        if (items !== null && typeof items === "object" && items[iteratorKey] == null && items.length > MAX) throw new RangeError("Array.from: the length is too large");
        return apply(arrayFrom, this, mapFn === undefined ? [items] : [items, mapFn, self]);
      }
      need(mapFn);
      const n = items.length > 0 ? Math.floor(items.length) : 0;
      if (n > MAX) throw new RangeError("Array.from: the length is too large");
      const out = typeof this === "function" && this !== ArrayCtor ? new this(n) : [];
      for (let i = 0; i < n; i++) put(out, i, apply(mapFn, self, [items[i], i]));
      out.length = n;
      return out;
    },
  });
  if (!typed) return;
  const Typed = Object.getPrototypeOf(Uint8Array);
  const typedFrom = Typed.from;
  // A list that is only a length becomes one with elements first.
  const listed = (source) => {
    if (typeof source === "string") return arrayFrom(source);
    if (source === null || source === undefined || source[iteratorKey] != null) return source;
    const n = source.length > 0 ? Math.floor(source.length) : 0;
    if (n > MAX) throw new RangeError("from: the length is too large");
    const list = [];
    for (let i = 0; i < n; i++) put(list, i, source[i]);
    return list;
  };
  method(Typed, {
    from(source, ...rest) { return apply(typedFrom, this, [listed(source), ...rest]); },
  });
})
