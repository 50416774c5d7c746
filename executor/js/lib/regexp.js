// Loaded for programs that can make regular expressions at run time: patterns
// that the engine would silently get wrong are refused.
(function (global, checkPattern) {
  "use strict";
  const defineProperty = Object.defineProperty;
  const define = (obj, key, value) =>
    defineProperty(obj, key, { value, writable: true, enumerable: false, configurable: true });
  const NativeRegExp = RegExp;
  const isObject = (x) => x !== null && typeof x === "object";
  const construct = Reflect.construct;
  const check = (pattern, flags) => {
    if (isObject(pattern) && pattern instanceof NativeRegExp) {
      flags = flags === undefined ? pattern.flags : flags;
      pattern = pattern.source;
    }
    pattern = pattern === undefined ? "" : String(pattern);
    flags = flags === undefined ? "" : String(flags);
    checkPattern(pattern, flags);
    return [pattern, flags];
  };
  function Guarded(pattern, flags) {
    if (new.target === undefined && flags === undefined && isObject(pattern) && pattern instanceof NativeRegExp && pattern.constructor === Guarded) return pattern;
    return construct(NativeRegExp, check(pattern, flags), new.target === undefined || new.target === Guarded ? NativeRegExp : new.target);
  }
  defineProperty(Guarded, "name", { value: "RegExp" });
  defineProperty(Guarded, "prototype", { value: NativeRegExp.prototype, writable: false });
  // The engine splits fast only while the species is its own constructor.
  defineProperty(Guarded, Symbol.species, { get() { return this === Guarded ? NativeRegExp : this; }, configurable: true });
  define(global, "RegExp", Guarded);
  define(NativeRegExp.prototype, "constructor", Guarded);
})
