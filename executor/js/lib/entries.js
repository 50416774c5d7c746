// Object.fromEntries: the engine's own fails on a pair with a hole.
(function () {
  "use strict";
  const { defineProperty } = Object;
  return function fromEntries(iterable) {
    const out = {};
    for (const pair of iterable) {
      if (pair === null || (typeof pair !== "object" && typeof pair !== "function")) throw new TypeError("Iterator value " + String(pair) + " is not an entry object");
      defineProperty(out, pair[0], { value: pair[1], writable: true, enumerable: true, configurable: true });
    }
    return out;
  };
})
