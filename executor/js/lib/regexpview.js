// Loaded for programs that make no regular expression at run time and have one
// that the engine gets in another form than the author wrote: an expression
// shows what its author wrote. All else is as the engine has it.
(function (proto, author, authorFlags, namesCase) {
  "use strict";
  const defineProperty = Object.defineProperty, apply = Reflect.apply;
  const getter = (key) => Object.getOwnPropertyDescriptor(proto, key).get;
  const nativeSource = getter("source"), nativeFlags = getter("flags");
  const source = { get() { return author(apply(nativeSource, this, [])); }, configurable: true };
  // Without the flag i where all cases are written out.
  const caseless = (re) => authorFlags(apply(nativeSource, re, [])) !== "";
  let raw = false;
  defineProperty(proto, "source", source);
  defineProperty(proto, "flags", {
    get() {
      const flags = apply(nativeFlags, this, []);
      return raw || this === proto || !caseless(this) ? flags : authorFlags(apply(nativeSource, this, []));
    }, configurable: true,
  });
  if (namesCase) {
    const nativeCase = getter("ignoreCase");
    defineProperty(proto, "ignoreCase", { get() { return apply(nativeCase, this, []) || this !== proto && caseless(this); }, configurable: true });
  }
  // It makes an expression with the flags that it finds.
  const nativeMatchAll = proto[Symbol.matchAll];
  const methods = {
    [Symbol.matchAll](text) {
      text = String(text);
      raw = true;
      try { return apply(nativeMatchAll, this, [text]); } finally { raw = false; }
    },
    toString() {
      if (this === null || typeof this !== "object") throw new TypeError("RegExp.prototype.toString called on something that is no object");
      return "/" + this.source + "/" + this.flags;
    },
  };
  for (const key of [Symbol.matchAll, "toString"]) defineProperty(proto, key, { value: methods[key], writable: true, enumerable: false, configurable: true });
})
