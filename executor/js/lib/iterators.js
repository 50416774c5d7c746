// Iterator and its helpers. With whole, they are put where they belong;
// without, the caller gets the helpers and nothing changes. It is not charged; each step of a helper calls a function
// of the program or the iterator below, which is.
(function (global, MAX, whole) {
  "use strict";
  const { create, defineProperty, getPrototypeOf } = Object;
  const apply = Reflect.apply;
  const define = (obj, key, value) => defineProperty(obj, key, { value, writable: true, enumerable: false, configurable: true });
  const key = Symbol.iterator, tag = Symbol.toStringTag;
  const base = getPrototypeOf(getPrototypeOf([][key]()));
  const isObject = (x) => x !== null && (typeof x === "object" || typeof x === "function");
  const callable = (f) => { if (typeof f !== "function") throw new TypeError(String(f) + " is not a function"); };
  const self = (it) => { if (!isObject(it)) throw new TypeError("an iterator helper was called on something that is no iterator"); return it; };
  const direct = (it) => ({ it: self(it), next: it.next });
  const step = (d) => {
    const r = apply(d.next, d.it, []);
    if (!isObject(r)) throw new TypeError("an iterator gave " + String(r) + " instead of an object");
    return r;
  };
  const close = (it) => { const f = it.return; if (f !== undefined && f !== null) apply(f, it, []); };
  const closing = (it, f) => {
    try { return f(); } catch (e) { try { close(it); } catch (_) {} throw e; }
  };
  const count = (it, n) => closing(it, () => {
    const v = Number(n);
    if (v !== v) throw new RangeError(String(n) + " must be a positive number");
    const i = Math.trunc(v);
    if (i < 0) throw new RangeError(String(n) + " must be a positive number");
    return i;
  });

  function Iterator() {
    if (new.target === undefined || new.target === Iterator) throw new TypeError("Iterator cannot be made directly; write a class that extends it");
  }
  // A helper object: next asks the function, return closes what is below.
  const states = new WeakMap(), get = WeakMap.prototype.get, set = WeakMap.prototype.set;
  const stateOf = (obj) => {
    const s = isObject(obj) ? apply(get, states, [obj]) : undefined;
    if (s === undefined) throw new TypeError("not an iterator helper");
    return s;
  };
  const helper = create(base);
  define(helper, "next", function next() {
    const s = stateOf(this);
    if (s.running) throw new TypeError("the iterator helper is already running");
    if (s.done) return { value: undefined, done: true };
    s.running = true;
    try {
      const r = s.advance();
      if (r === undefined) { s.done = true; return { value: undefined, done: true }; }
      return { value: r.value, done: false };
    } catch (e) { s.done = true; throw e; } finally { s.running = false; }
  });
  define(helper, "return", function () {
    const s = stateOf(this);
    if (s.running) throw new TypeError("the iterator helper is already running");
    if (!s.done) { s.done = true; s.stop(); }
    return { value: undefined, done: true };
  });
  defineProperty(helper, tag, { value: "Iterator Helper", configurable: true });
  const make = (it, advance, stop) => {
    const obj = create(helper);
    apply(set, states, [obj, { advance, stop: stop || (() => close(it)), done: false, running: false }]);
    return obj;
  };

  const wrapped = create(base);
  define(wrapped, "next", function next() { const d = stateOf(this); return apply(d.next, d.it, []); });
  define(wrapped, "return", function () {
    const { it } = stateOf(this), f = it.return;
    return f === undefined || f === null ? { value: undefined, done: true } : apply(f, it, []);
  });
  // open gives the iterator of something that can be iterated, or the thing.
  const open = (x, strings) => {
    if (!isObject(x) && !(strings && typeof x === "string")) throw new TypeError(String(x) + " is not an object");
    const f = x[key];
    if (f === undefined || f === null) return direct(x);
    const it = apply(f, x, []);
    if (!isObject(it)) throw new TypeError(String(it) + " is not an object");
    return direct(it);
  };
  define(Iterator, "from", function from(x) {
    const d = open(x, true);
    if (d.it instanceof Iterator) return d.it;
    const obj = create(wrapped);
    apply(set, states, [obj, d]);
    return obj;
  });

  const methods = {
    map(f) {
      closing(self(this), () => callable(f));
      const d = direct(this); let i = 0;
      return make(d.it, () => { const r = step(d); if (r.done) return undefined; const v = r.value; return { value: closing(d.it, () => f(v, i++)) }; });
    },
    filter(f) {
      closing(self(this), () => callable(f));
      const d = direct(this); let i = 0;
      return make(d.it, () => {
        for (;;) { const r = step(d); if (r.done) return undefined; const v = r.value; if (closing(d.it, () => f(v, i++))) return { value: v }; }
      });
    },
    take(n) {
      let left = count(self(this), n);
      const d = direct(this);
      return make(d.it, () => {
        if (left <= 0) { close(d.it); return undefined; }
        left--;
        const r = step(d);
        return r.done ? undefined : { value: r.value };
      });
    },
    drop(n) {
      let left = count(self(this), n);
      const d = direct(this);
      return make(d.it, () => {
        for (; left > 0; left--) if (step(d).done) return undefined;
        const r = step(d);
        return r.done ? undefined : { value: r.value };
      });
    },
    flatMap(f) {
      closing(self(this), () => callable(f));
      const d = direct(this); let i = 0, inner;
      return make(d.it, () => {
        for (;;) {
          if (inner !== undefined) {
            const r = closing(d.it, () => step(inner));
            if (!r.done) return { value: r.value };
            inner = undefined;
          }
          const r = step(d);
          if (r.done) return undefined;
          const v = r.value;
          inner = closing(d.it, () => open(f(v, i++), false));
        }
      }, () => { try { if (inner !== undefined) close(inner.it); } finally { close(d.it); } });
    },
    reduce(f, ...rest) {
      closing(self(this), () => callable(f));
      const d = direct(this); let i = 0, acc;
      if (rest.length > 0) acc = rest[0];
      else { const r = step(d); if (r.done) throw new TypeError("reduce of an empty iterator without a first value"); acc = r.value; i = 1; }
      for (;;) { const r = step(d); if (r.done) return acc; const v = r.value; acc = closing(d.it, () => f(acc, v, i++)); }
    },
    toArray() {
      const d = direct(this), out = [];
      for (;;) {
        const r = step(d);
        if (r.done) return out;
        if (out.length >= MAX) throw new RangeError("toArray: the array would be too long");
        defineProperty(out, out.length, { value: r.value, writable: true, enumerable: true, configurable: true });
      }
    },
    forEach(f) {
      closing(self(this), () => callable(f));
      const d = direct(this); let i = 0;
      for (;;) { const r = step(d); if (r.done) return; const v = r.value; closing(d.it, () => f(v, i++)); }
    },
    some(f) {
      closing(self(this), () => callable(f));
      const d = direct(this); let i = 0;
      for (;;) { const r = step(d); if (r.done) return false; const v = r.value; if (closing(d.it, () => f(v, i++))) { close(d.it); return true; } }
    },
    every(f) {
      closing(self(this), () => callable(f));
      const d = direct(this); let i = 0;
      for (;;) { const r = step(d); if (r.done) return true; const v = r.value; if (!closing(d.it, () => f(v, i++))) { close(d.it); return false; } }
    },
    find(f) {
      closing(self(this), () => callable(f));
      const d = direct(this); let i = 0;
      for (;;) { const r = step(d); if (r.done) return undefined; const v = r.value; if (closing(d.it, () => f(v, i++))) { close(d.it); return v; } }
    },
  };
  if (!whole) return methods;
  defineProperty(Iterator, "prototype", { value: base, writable: false });
  defineProperty(base, "constructor", { get() { return Iterator; }, set(v) { if (this !== base) define(this, "constructor", v); }, configurable: true });
  defineProperty(base, tag, { get() { return "Iterator"; }, set(v) { if (this !== base) define(this, tag, v); }, configurable: true });
  for (const name of Object.keys(methods)) define(base, name, methods[name]);
  define(global, "Iterator", Iterator);
})
