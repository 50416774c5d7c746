// References that need not hold: nothing here is ever collected before the
// call ends, which the language allows. Loaded for programs that name them.
(function (global) {
  "use strict";
  const defineProperty = Object.defineProperty, apply = Reflect.apply;
  const define = (obj, key, value) => defineProperty(obj, key, { value, writable: true, enumerable: false, configurable: true });
  const tag = Symbol.toStringTag;
  const { get, set } = WeakMap.prototype;
  const weakly = (x) => x !== null && (typeof x === "object" || typeof x === "function") || typeof x === "symbol" && Symbol.keyFor(x) === undefined;
  const targets = new WeakMap(), registries = new WeakMap();

  class WeakRef {
    constructor(target) {
      if (!weakly(target)) throw new TypeError("WeakRef: the target must be an object or a symbol that is not registered");
      apply(set, targets, [this, { target }]);
    }
    deref() {
      const t = apply(get, targets, [this]);
      if (t === undefined) throw new TypeError("deref was called on something that is no WeakRef");
      return t.target;
    }
  }
  defineProperty(WeakRef.prototype, tag, { value: "WeakRef", configurable: true });
  define(global, "WeakRef", WeakRef);

  class FinalizationRegistry {
    constructor(cleanup) {
      if (typeof cleanup !== "function") throw new TypeError("FinalizationRegistry needs a function");
      apply(set, registries, [this, new Set()]);
    }
    register(target, held, token) {
      const tokens = apply(get, registries, [this]);
      if (tokens === undefined) throw new TypeError("register was called on something that is no FinalizationRegistry");
      if (!weakly(target) || target === held) throw new TypeError("FinalizationRegistry: the target must be an object, and not the held value");
      if (token !== undefined) { if (!weakly(token)) throw new TypeError("FinalizationRegistry: invalid token"); tokens.add(token); }
    }
    unregister(token) {
      const tokens = apply(get, registries, [this]);
      if (tokens === undefined || !weakly(token)) throw new TypeError("FinalizationRegistry: invalid token");
      return tokens.delete(token);
    }
  }
  defineProperty(FinalizationRegistry.prototype, tag, { value: "FinalizationRegistry", configurable: true });
  define(global, "FinalizationRegistry", FinalizationRegistry);

  // Symbols as keys, which the engine's own collections refuse.
  const symbols = new WeakMap(), mapOf = (obj, make) => {
    let m = apply(get, symbols, [obj]);
    if (m === undefined && make) apply(set, symbols, [obj, m = new Map()]);
    return m;
  };
  const own = { WeakMap: WeakMap.prototype, WeakSet: WeakSet.prototype };
  const patch = (proto, name, symbolic) => {
    const native = proto[name];
    define(proto, name, { [name](k, v) { return typeof k === "symbol" && weakly(k) ? symbolic(this, k, v) : apply(native, this, arguments); } }[name]);
  };
  for (const [kind, proto] of Object.entries(own)) {
    const probe = proto.has, check = (obj) => { apply(probe, obj, [{}]); return obj; };
    patch(proto, "has", (obj, k) => { const m = mapOf(obj); return m !== undefined && m.has(k); });
    patch(proto, "delete", (obj, k) => { const m = mapOf(obj); return m !== undefined && m.delete(k); });
    if (kind === "WeakMap") {
      patch(proto, "get", (obj, k) => { const m = mapOf(obj); return m === undefined ? undefined : m.get(k); });
      patch(proto, "set", (obj, k, v) => { mapOf(check(obj), true).set(k, v); return obj; });
    } else patch(proto, "add", (obj, k) => { mapOf(check(obj), true).set(k, true); return obj; });
  }
})
