// Number for programs with BigInts: the engine's own takes the low 64 bits of
// one. Everything else about the class stays the engine's.
(function (global) {
  "use strict";
  const Native = global.Number, { construct, ownKeys, getOwnPropertyDescriptor } = Reflect, { defineProperty } = Object;
  const parse = global.parseFloat, text = BigInt.prototype.toString, toPrimitive = Symbol.toPrimitive;
  const primitive = (v) => {
    if (v === null || (typeof v !== "object" && typeof v !== "function")) return v;
    // As the language does it: Symbol.toPrimitive, valueOf, toString.
    const exotic = v[toPrimitive];
    if (exotic !== undefined && exotic !== null) {
      const p = Reflect.apply(exotic, v, ["number"]);
      if (p !== null && (typeof p === "object" || typeof p === "function")) throw new TypeError("Cannot convert object to primitive value");
      return p;
    }
    for (const name of ["valueOf", "toString"]) {
      const f = v[name];
      if (typeof f !== "function") continue;
      const p = Reflect.apply(f, v, []);
      if (p === null || (typeof p !== "object" && typeof p !== "function")) return p;
    }
    throw new TypeError("Cannot convert object to primitive value");
  };
  const numeric = (v) => {
    v = primitive(v);
    return typeof v === "bigint" ? parse(Reflect.apply(text, v, [])) : Native(v);
  };
  function Number(value) {
    const n = arguments.length > 0 ? numeric(value) : 0;
    return new.target === undefined ? n : construct(Native, [n], new.target === Number ? Native : new.target);
  }
  for (const key of ownKeys(Native)) defineProperty(Number, key, getOwnPropertyDescriptor(Native, key));
  defineProperty(Native.prototype, "constructor", { value: Number, writable: true, enumerable: false, configurable: true });
  defineProperty(global, "Number", { value: Number, writable: true, enumerable: false, configurable: true });
})
