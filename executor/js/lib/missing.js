// Loaded for programs that name one of these: built-ins that the engine lacks.
// It is not charged.
(function () {
  "use strict";
  const defineProperty = Object.defineProperty;
  const define = (obj, key, value) =>
    defineProperty(obj, key, { value, writable: true, enumerable: false, configurable: true });
  const apply = Reflect.apply;
  const lacking = (obj, fns) => { for (const key of Object.keys(fns)) if (!(key in obj)) define(obj, key, fns[key]); };
  const need = (f) => { if (typeof f !== "function") throw new TypeError(String(f) + " is not a function"); };

  const iteratorKey = Symbol.iterator;
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
