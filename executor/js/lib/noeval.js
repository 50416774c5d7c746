// Runs in every virtual machine before the program: takes away what would
// make code that is not counted.
(function (global, refuseEval) {
  "use strict";
  const defineProperty = Object.defineProperty;
  const define = (obj, key, value) =>
    defineProperty(obj, key, { value, writable: true, enumerable: false, configurable: true });

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
})
