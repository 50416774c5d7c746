// structuredClone. It is loaded when a program first reads the name; nothing
// here is charged, the deadline and the stack bound it.
(function (cloneError, detach, order) {
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
      for (const k of keys(order(value))) out[k] = clone(value[k], seen);
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
    if (value instanceof buffers) {
      if (detach(value, true)) cloneError("an ArrayBuffer that is detached");
      return keep(value.slice(0));
    }
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
    if (arguments.length === 0) throw new TypeError("structuredClone needs a value");
    const seen = new MapCtor(), moved = [];
    const list = options === undefined || options === null ? undefined : options.transfer;
    if (list !== undefined) {
      for (const buffer of list) {
        if (!(buffer instanceof buffers)) cloneError("what is to be transferred is no ArrayBuffer: it");
        if (seen.has(buffer) || detach(buffer, true)) cloneError("an ArrayBuffer that is detached or given twice");
        seen.set(buffer, buffer.slice(0));
        moved[moved.length] = buffer;
      }
    }
    const out = clone(value, seen);
    for (let i = 0; i < moved.length; i++) detach(moved[i], false);
    return out;
  };
})
