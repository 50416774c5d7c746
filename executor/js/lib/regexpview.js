// Loaded for programs that make no regular expression at run time and have one
// that the engine gets in another form than the author wrote: an expression
// shows what its author wrote. All else is as the engine has it.
(function (proto, author, authorFlags, namesCase, alsoOurs) {
  "use strict";
  const defineProperty = Object.defineProperty, apply = Reflect.apply;
  const getter = (key) => Object.getOwnPropertyDescriptor(proto, key).get;
  const nativeSource = getter("source"), nativeFlags = getter("flags");
  const source = { get() { return author(apply(nativeSource, this, [])); }, configurable: true };
  // Without the flag i where all cases are written out.
  const caseless = (re) => authorFlags(apply(nativeSource, re, [])) !== "";
  let raw = false;
  // native runs a method with the flags that the engine has.
  const native = (method, re, args) => {
    const outer = raw;
    raw = true;
    try { return apply(method, re, args); } finally { raw = outer; }
  };
  if (alsoOurs !== undefined) alsoOurs((re) => native(nativeFlags, re, []));
  defineProperty(proto, "source", source);
  defineProperty(proto, "flags", {
    get() {
      const flags = apply(nativeFlags, this, []);
      return raw || this === proto || !caseless(this) ? flags : authorFlags(apply(nativeSource, this, []));
    }, configurable: true,
  });
  if (namesCase) {
    const nativeCase = getter("ignoreCase");
    defineProperty(proto, "ignoreCase", { get() { return apply(nativeCase, this, []) || !raw && this !== proto && caseless(this); }, configurable: true });
  }
  // It makes an expression with the flags that it finds.
  const nativeMatchAll = proto[Symbol.matchAll], nativeSplit = proto[Symbol.split];
  const methods = {
    [Symbol.split](text, limit) {
      text = `${text}`;
      if (limit !== undefined) limit >>>= 0;
      return native(nativeSplit, this, [text, limit]);
    },
    [Symbol.matchAll](text) {
      text = String(text);
      return native(nativeMatchAll, this, [text]);
    },
    toString() {
      if (this === null || typeof this !== "object") throw new TypeError("RegExp.prototype.toString called on something that is no object");
      return "/" + this.source + "/" + this.flags;
    },
  };
  for (const key of [Symbol.matchAll, Symbol.split, "toString"]) defineProperty(proto, key, { value: methods[key], writable: true, enumerable: false, configurable: true });
})
