// Loaded for programs that name one of these: built-ins that the engine lacks
// or gets wrong. It is not charged.
(function (MAX) {
  "use strict";
  const defineProperty = Object.defineProperty;
  const define = (obj, key, value) =>
    defineProperty(obj, key, { value, writable: true, enumerable: false, configurable: true });
  const apply = Reflect.apply;
  const method = (obj, fns) => { for (const key of Object.keys(fns)) define(obj, key, fns[key]); };
  const lacking = (obj, fns) => { for (const key of Object.keys(fns)) if (!(key in obj)) define(obj, key, fns[key]); };
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
  const Typed = Object.getPrototypeOf(Uint8Array);
  const typedFrom = Typed.from;
  method(Typed, {
    from(source, ...rest) { return apply(typedFrom, this, [typeof source === "string" ? arrayFrom(source) : source, ...rest]); },
  });

  const group = (items, key, add) => {
    if (items === null || items === undefined) throw new TypeError("groupBy needs something to iterate");
    need(key);
    let i = 0;
    for (const item of items) add(key(item, i++), item);
  };
  lacking(Object, {
    groupBy(items, key) {
      const out = Object.create(null);
      group(items, key, (k, item) => { (out[k] || (out[k] = [])).push(item); });
      return out;
    },
  });
  const MapCtor = Map;
  lacking(Map, {
    groupBy(items, key) {
      const out = new MapCtor();
      group(items, key, (k, item) => { const l = out.get(k); if (l) l.push(item); else out.set(k, [item]); });
      return out;
    },
  });
  lacking(Promise, {
    withResolvers() {
      let resolve, reject;
      const promise = new this((a, b) => { resolve = a; reject = b; });
      return { promise, resolve, reject };
    },
    try(fn, ...args) { return new this((resolve) => resolve(fn(...args))); },
  });
  if (!("asyncIterator" in Symbol)) defineProperty(Symbol, "asyncIterator", { value: Symbol("Symbol.asyncIterator") });
  const asyncKey = Symbol.asyncIterator;
  lacking(Array, {
    async fromAsync(items, mapFn, self) {
      if (mapFn !== undefined) need(mapFn);
      const out = [];
      const add = async (v) => { out.push(mapFn === undefined ? v : await apply(mapFn, self, [v, out.length])); };
      const open = items[asyncKey];
      if (open != null) {
        const it = apply(open, items, []);
        for (;;) {
          const step = await it.next();
          if (step.done) return out;
          await add(step.value);
        }
      }
      if (items[iteratorKey] != null) { for (const v of items) await add(await v); return out; }
      for (let i = 0; i < items.length; i++) await add(await items[i]);
      return out;
    },
  });
  const wellFormed = (text) => {
    for (let i = 0; i < text.length; i++) {
      const c = text.charCodeAt(i);
      if (c < 0xD800 || c > 0xDFFF) continue;
      if (c > 0xDBFF) return i;
      const d = text.charCodeAt(i + 1);
      if (!(d >= 0xDC00 && d <= 0xDFFF)) return i;
      i++;
    }
    return -1;
  };
  lacking(String.prototype, {
    isWellFormed() { return wellFormed(String(this)) < 0; },
    toWellFormed() {
      let text = String(this);
      for (let at; (at = wellFormed(text)) >= 0;) text = text.slice(0, at) + "\uFFFD" + text.slice(at + 1);
      return text;
    },
  });
})
