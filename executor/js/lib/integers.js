// A class of lists of integers whose constructor gets a list that is cut first.
// It takes the place of the engine's; it is not charged.
(function (native, cut, construct) {
  "use strict";
  const { name, prototype, BYTES_PER_ELEMENT } = native;
  const { defineProperty, getPrototypeOf, setPrototypeOf } = Object;
  const made = function (...args) {
    if (new.target === undefined) throw new TypeError("Constructor " + name + " requires 'new'");
    if (args.length > 0) args[0] = cut(args[0]);
    return construct(native, args, new.target);
  };
  setPrototypeOf(made, getPrototypeOf(native));
  defineProperty(made, "name", { value: name });
  defineProperty(made, "length", { value: 3 });
  defineProperty(made, "prototype", { value: prototype, writable: false });
  defineProperty(made, "BYTES_PER_ELEMENT", { value: BYTES_PER_ELEMENT });
  defineProperty(prototype, "constructor", { value: made });
  return made;
})
