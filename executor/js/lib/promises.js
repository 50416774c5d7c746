// Loaded when something is awaited that helpers return, or for microtasks.
(function (uncaught) {
  "use strict";
  const defineProperty = Object.defineProperty;
  const define = (obj, key, value) =>
    defineProperty(obj, key, { value, writable: true, enumerable: false, configurable: true });
  const apply = Reflect.apply;
  const PromiseCtor = Promise;
  const { then, catch: caught, finally: lastly } = PromiseCtor.prototype;
  const settled = (value) => new PromiseCtor((resolve) => resolve(value));
  return {
    // A microtask that throws ends the call, as it would end a process.
    queueMicrotask(task) {
      if (typeof task !== "function") throw new TypeError("queueMicrotask needs a function");
      apply(then, settled(), [() => { try { task(); } catch (e) { uncaught(e); } }]);
    },
    // What helpers return is there at once, and may be awaited all the same.
    dual(obj, plain) {
      define(obj, "then", function (done, failed) { return apply(then, settled(plain()), [done, failed]); });
      define(obj, "catch", function (failed) { return apply(caught, settled(plain()), [failed]); });
      define(obj, "finally", function (done) { return apply(lastly, settled(plain()), [done]); });
    },
  };
})
