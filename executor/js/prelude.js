(function (global, refuseEval, checkPattern) {
  "use strict";
  const define = (obj, key, value) =>
    Object.defineProperty(obj, key, { value, writable: true, enumerable: false, configurable: true });

  // Code that is made at run time would not be counted.
  const kinds = [
    [Function, "Function"],
    [Object.getPrototypeOf(function* () {}).constructor, "GeneratorFunction"],
    [Object.getPrototypeOf(async function () {}).constructor, "AsyncFunction"],
  ];
  for (const [real, name] of kinds) {
    const stub = function () { refuseEval(name); };
    Object.defineProperty(stub, "name", { value: name });
    Object.defineProperty(stub, "prototype", { value: real.prototype, writable: false, enumerable: false, configurable: false });
    Object.defineProperty(real.prototype, "constructor", { value: stub, writable: false, enumerable: false, configurable: false });
    if (name === "Function") define(global, name, stub);
  }
  define(global, "eval", (function () { return { eval() { refuseEval("eval"); } }.eval; })());

  // Patterns that the engine would silently get wrong are refused.
  const NativeRegExp = RegExp;
  const isObject = (x) => x !== null && typeof x === "object";
  const check = (args) => {
    let [pattern, flags] = args;
    if (isObject(pattern) && pattern instanceof NativeRegExp) {
      flags = flags === undefined ? pattern.flags : flags;
      pattern = pattern.source;
    }
    pattern = pattern === undefined ? "" : String(pattern);
    flags = flags === undefined ? "" : String(flags);
    checkPattern(pattern, flags);
    return [pattern, flags];
  };
  const Guarded = new Proxy(NativeRegExp, {
    apply(target, self, args) {
      if (isObject(args[0]) && args[1] === undefined && args[0] instanceof NativeRegExp && args[0].constructor === Guarded) return args[0];
      return new NativeRegExp(...check(args));
    },
    construct(target, args, newTarget) {
      return Reflect.construct(target, check(args), newTarget === Guarded ? NativeRegExp : newTarget);
    },
  });
  define(global, "RegExp", Guarded);
  define(NativeRegExp.prototype, "constructor", Guarded);
})
