// Promise.any (ECMA-262 27.2.4.3), whose error has no message in the engine.
(function () {
  "use strict";
  const apply = Reflect.apply, define = Object.defineProperty, Failures = AggregateError;
  const put = (obj, key, value) => define(obj, key, { value, writable: true, enumerable: true, configurable: true });
  return { any(iterable) {
    const Class = this;
    if (Class === null || (typeof Class !== "object" && typeof Class !== "function")) throw new TypeError("Promise.any called on something that is no object");
    let resolve, reject;
    const promise = new Class((yes, no) => { resolve = yes; reject = no; });
    try {
      const settle = Class.resolve;
      if (typeof settle !== "function") throw new TypeError("Promise resolve or reject function is not callable");
      const errors = [];
      let left = 1, count = 0;
      const end = () => { if (--left === 0) reject(new Failures(errors, "All promises were rejected")); };
      for (const item of iterable) {
        const at = count++;
        let called = false;
        put(errors, at, undefined);
        left++;
        apply(settle, Class, [item]).then(resolve, (error) => {
          if (called) return;
          called = true;
          put(errors, at, error);
          end();
        });
      }
      end();
    } catch (error) {
      reject(error);
    }
    return promise;
  } }.any;
})
