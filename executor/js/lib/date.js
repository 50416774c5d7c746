// Date for programs that make dates of texts: the engine's own reads other
// forms than the language has. Everything else about the class stays the
// engine's.
(function (global, read) {
  "use strict";
  const Native = global.Date, { construct, apply, ownKeys, getOwnPropertyDescriptor } = Reflect, { defineProperty } = Object;
  const proto = Native.prototype, timeOf = proto.getTime, primitiveKey = Symbol.toPrimitive;
  const isObject = (v) => v !== null && (typeof v === "object" || typeof v === "function");
  const primitive = (v) => {
    const exotic = v[primitiveKey];
    const own = exotic === undefined || exotic === null;
    for (let i = 0; i < (own ? 2 : 1); i++) {
      const f = own ? v[i === 0 ? "valueOf" : "toString"] : exotic;
      if (own && typeof f !== "function") continue;
      const p = apply(f, v, own ? [] : ["default"]);
      if (!isObject(p)) return p;
    }
    throw new TypeError("Cannot convert object to primitive value");
  };
  const ofDate = (v) => { try { return apply(timeOf, v, []); } catch (_) { return undefined; } };
  function Date(year, month, day, hours, minutes, seconds, ms) {
    const target = new.target;
    if (target === undefined) return Native();
    const made = target === Date ? Native : target;
    if (arguments.length !== 1) return construct(Native, arguments, made);
    if (isObject(year)) {
      const time = ofDate(year);
      year = time === undefined ? primitive(year) : time;
    }
    return construct(Native, [typeof year === "string" ? read(year) : year], made);
  }
  for (const key of ownKeys(Native)) defineProperty(Date, key, getOwnPropertyDescriptor(Native, key));
  defineProperty(Date, "parse", { value: { parse(text) { return read(`${text}`); } }.parse, writable: true, enumerable: false, configurable: true });
  defineProperty(proto, "constructor", { value: Date, writable: true, enumerable: false, configurable: true });
  defineProperty(global, "Date", { value: Date, writable: true, enumerable: false, configurable: true });
})
