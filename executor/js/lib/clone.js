// structuredClone. It is loaded when a program first reads the name; nothing
// here is charged, the deadline and the stack bound it.
(function (cloneError) {
  "use strict";
  const tag = Object.prototype.toString;
  const MapCtor = Map, SetCtor = Set, DateCtor = Date, RegExpCtor = RegExp;
  const buffers = ArrayBuffer, view = DataView;
  const errors = { Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };
  const keys = Object.keys, define = Object.defineProperty, isArray = Array.isArray;

  function clone(value, seen) {
    if (typeof value === "function" || typeof value === "symbol") cloneError(String(value));
    if (value === null || typeof value !== "object") return value;
    if (seen.has(value)) return seen.get(value);
    const keep = (copy) => { seen.set(value, copy); return copy; };
    if (isArray(value)) {
      const out = keep([]);
      out.length = value.length;
      for (const k of keys(value)) out[k] = clone(value[k], seen);
      return out;
    }
    if (value instanceof DateCtor) return keep(new DateCtor(value.getTime()));
    if (value instanceof RegExpCtor) return keep(new RegExpCtor(value.source, value.flags));
    if (value instanceof MapCtor) {
      const out = keep(new MapCtor());
      for (const [k, v] of value) out.set(clone(k, seen), clone(v, seen));
      return out;
    }
    if (value instanceof SetCtor) {
      const out = keep(new SetCtor());
      for (const v of value) out.add(clone(v, seen));
      return out;
    }
    if (value instanceof buffers) return keep(value.slice(0));
    if (buffers.isView(value)) {
      const buffer = clone(value.buffer, seen);
      return keep(value instanceof view
        ? new view(buffer, value.byteOffset, value.byteLength)
        : new value.constructor(buffer, value.byteOffset, value.length));
    }
    if (value instanceof errors.Error) {
      const out = keep(new (errors[value.name] || errors.Error)(value.message));
      if ("cause" in value) define(out, "cause", { value: clone(value.cause, seen), writable: true, configurable: true });
      return out;
    }
    const kind = tag.call(value);
    if (kind === "[object Number]" || kind === "[object String]" || kind === "[object Boolean]") return keep(Object(value.valueOf()));
    if (kind === "[object Promise]" || kind === "[object WeakMap]" || kind === "[object WeakSet]") cloneError(kind);
    const out = keep({});
    for (const k of keys(value)) define(out, k, { value: clone(value[k], seen), writable: true, enumerable: true, configurable: true });
    return out;
  }
  return function structuredClone(value, options) {
    if (options !== undefined && options !== null && options.transfer !== undefined && options.transfer.length > 0) cloneError("what is to be transferred");
    return clone(value, new MapCtor());
  };
})
