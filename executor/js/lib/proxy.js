// Proxy whose traps of calls get a list of arguments that is theirs: the
// engine hands out a part of its stack, which goes on to change. It takes the
// place of the engine's; it is not charged.
(function (Native) {
  "use strict";
  const { apply, construct } = Reflect;
  const { of } = Array, ArrayCtor = Array;
  const { defineProperty, getOwnPropertyDescriptor } = Object;
  const { revocable } = Native;
  const copied = (list) => apply(of, ArrayCtor, list);
  // What stands for the handler: the traps of the handler itself, each on it.
  const handled = (handler) => new Native(handler, {
    get(own, key) {
      const trap = own[key];
      if (typeof trap !== "function") return trap;
      if (key === "apply") return (target, self, args) => apply(trap, own, [target, self, copied(args)]);
      if (key === "construct") return (target, args, by) => apply(trap, own, [target, copied(args), by]);
      return (...args) => apply(trap, own, args);
    },
  });
  const watched = (target, handler) =>
    typeof target === "function" && handler !== null && (typeof handler === "object" || typeof handler === "function");
  const made = function (target, handler) {
    if (new.target === undefined) throw new TypeError("Constructor Proxy requires 'new'");
    return new Native(target, watched(target, handler) ? handled(handler) : handler);
  };
  const hide = (obj, name, value) => defineProperty(obj, name, { ...getOwnPropertyDescriptor(obj, name), value });
  hide(made, "name", "Proxy");
  hide(made, "length", 2);
  made.prototype = undefined;
  const revoked = { revocable(target, handler) { return apply(revocable, Native, [target, watched(target, handler) ? handled(handler) : handler]); } };
  defineProperty(made, "revocable", { value: revoked.revocable, writable: true, enumerable: false, configurable: true });
  return made;
})
