// Loaded for programs that can make regular expressions at run time, or have
// one that the engine gets in another form than the author wrote. The patterns
// of both are expanded or refused, never silently read as something else; the
// flags d and v, which the engine lacks, are put on top.
(function (global, expand, author, authorFlags, namesCase, indices, lastMatch, notKept, alsoOurs) {
  "use strict";
  const defineProperty = Object.defineProperty;
  const define = (obj, key, value) =>
    defineProperty(obj, key, { value, writable: true, enumerable: false, configurable: true });
  const NativeRegExp = RegExp, proto = RegExp.prototype;
  const construct = Reflect.construct, apply = Reflect.apply;
  const getter = (key) => Object.getOwnPropertyDescriptor(proto, key).get;
  const nativeSource = getter("source"), nativeFlags = getter("flags"), nativeExec = proto.exec;
  const isObject = (x) => x !== null && typeof x === "object";
  const isRegExp = (x) => isObject(x) && x instanceof NativeRegExp;
  // What the engine does not know about an object: flags d and v, and the
  // source of one with v. Methods are taken so that no code replaces them.
  const more = new WeakMap(), get = WeakMap.prototype.get, set = WeakMap.prototype.set;
  const extra = (re) => (isObject(re) ? apply(get, more, [re]) : undefined);
  const has = (text, c) => apply(String.prototype.includes, text, [c]);
  const replace = String.prototype.replace;
  const without = (text, c) => apply(replace, text, [c, ""]);
  let installed = false, raw = false;
  const caseless = (re) => {
    const m = extra(re);
    return m !== undefined ? has(m.flags, "i") : has(authorFlags(apply(nativeSource, re, [])), "i");
  };
  const plainFlags = (re) => {
    const flags = apply(nativeFlags, re, []);
    if (raw || has(flags, "i") || !isRegExp(re) || re === proto || !caseless(re)) return flags;
    let out = "";
    for (const c of ["d", "g", "i", "m", "s", "u", "v", "y"]) if (c === "i" || has(flags, c)) out += c;
    return out;
  };
  defineProperty(proto, "flags", { get() { return plainFlags(this); }, configurable: true });
  // This getter takes the engine off its fast way, for the whole program.
  if (namesCase) {
    const nativeCase = getter("ignoreCase");
    defineProperty(proto, "ignoreCase", { get() { const on = apply(nativeCase, this, []); return on === false && !raw && isRegExp(this) ? caseless(this) : on; }, configurable: true });
  }
  // native runs a method of the engine that makes an expression of this one and
  // its flags, which have to be those that the engine has.
  const native = (method, re, args) => {
    const outer = raw;
    raw = true;
    try { return apply(method, re, args); } finally { raw = outer; }
  };
  const rawFlags = (re) => native(nativeFlags, re, []);
  alsoOurs(rawFlags);
  function* matches(re, text) {
    if (!has(re.flags, "g")) { const m = re.exec(text); if (m !== null) yield m; return; }
    for (let m; (m = re.exec(text)) !== null;) {
      if (m[0] === "") re.lastIndex += (has(re.flags, "u") || has(re.flags, "v")) && text.codePointAt(re.lastIndex) > 0xFFFF ? 2 : 1;
      yield m;
    }
  }
  const nativeMatchAll = proto[Symbol.matchAll];
  define(proto, Symbol.matchAll, { [Symbol.matchAll](text) {
    text = String(text);
    if (!isRegExp(this) || this.constructor !== Guarded) return apply(nativeMatchAll, this, [text]);
    const m = extra(this);
    if (m !== undefined && has(m.flags, "d")) {
      const re = make(this.source, this.flags, NativeRegExp);
      re.lastIndex = this.lastIndex;
      return matches(re, text);
    }
    return native(nativeMatchAll, this, [text]);
  } }[Symbol.matchAll]);

  // The flags d and v change the class for the whole program, and slow it
  // down, so that happens when the first such expression is made.
  const install = () => {
    if (installed) return;
    installed = true;
    const flag = (key, letter) => defineProperty(proto, key, { get() { const m = extra(this); return m !== undefined && has(m.flags, letter); }, configurable: true });
    flag("hasIndices", "d");
    flag("unicodeSets", "v");
    const nativeUnicode = getter("unicode");
    defineProperty(proto, "unicode", { get() { const m = extra(this); return !raw && m !== undefined && has(m.flags, "v") ? false : apply(nativeUnicode, this, []); }, configurable: true });
    defineProperty(proto, "flags", {
      get() {
        const m = extra(this);
        if (raw || m === undefined || !has(m.flags, "d") && !has(m.flags, "v")) return plainFlags(this);
        let out = has(m.flags, "d") ? "d" : "";
        for (const [key, c] of [["global", "g"], ["ignoreCase", "i"], ["multiline", "m"], ["dotAll", "s"], ["unicode", "u"], ["unicodeSets", "v"], ["sticky", "y"]]) if (this[key] || c === "i" && has(m.flags, c)) out += c;
        return out;
      }, configurable: true,
    });
    define(proto, "exec", function exec(text) {
      text = String(text);
      const match = apply(nativeExec, this, [text]);
      const m = extra(this);
      if (match === null || m === undefined || !has(m.flags, "d")) return match;
      const found = indices(m.pattern, m.native, text, match.index);
      const list = [];
      const at = (i) => (found[3 * i] < 0 ? undefined : [found[3 * i], found[3 * i + 1]]);
      if (found === undefined || found.length !== match.length * 3 || found[1] - found[0] !== match[0].length) throw new SyntaxError("the flag d is not supported for this regular expression");
      for (let i = 0; i < match.length; i++) defineProperty(list, i, { value: at(i), writable: true, enumerable: true, configurable: true });
      list.groups = undefined;
      if (match.groups !== undefined) {
        list.groups = { __proto__: null };
        for (let i = 1; i < match.length; i++) { const name = found[3 * i + 2]; if (name !== "") list.groups[name] = at(i); }
      }
      match.indices = list;
      return match;
    });
    alsoOurs(rawFlags, proto.exec);
  };
  // The matcher that splits takes other characters for parts of words.
  const nativeSplit = proto[Symbol.split];
  define(proto, Symbol.split, { [Symbol.split](text, limit) {
    if (!isRegExp(this) || this.constructor !== Guarded) return apply(nativeSplit, this, [text, limit]);
    const source = apply(nativeSource, this, []);
    text = `${text}`;
    if (limit !== undefined) limit >>>= 0;
    if (!has(source, "\\b") && !has(source, "\\B")) return native(nativeSplit, this, [text, limit]);
    return apply(nativeSplit, make(this.source, without(this.flags, "y") + "y", NativeRegExp), [text, limit]);
  } }[Symbol.split]);
  const ends = { __proto__: null, "\n": "\\n", "\r": "\\r", "\u2028": "\\u2028", "\u2029": "\\u2029" };
  // shown is a pattern as it stands between slashes.
  const shown = (pattern) => {
    let out = "", list = false;
    for (let i = 0; i < pattern.length; i++) {
      const c = pattern[i], escaped = c === "\\" && i + 1 < pattern.length, end = ends[escaped ? pattern[i + 1] : c];
      if (end !== undefined) { out += end; if (escaped) i++; }
      else if (escaped) out += c + pattern[++i];
      else if (c === "/" && !list) out += "\\/";
      else {
        if (c === "[") list = true;
        else if (c === "]") list = false;
        out += c;
      }
    }
    return out === "" ? "(?:)" : out;
  };
  const make = (pattern, flags, target) => {
    if (isRegExp(pattern)) {
      flags = flags === undefined ? pattern.flags : flags;
      pattern = pattern.source;
    } else if (pattern === undefined) pattern = "";
    pattern = String(pattern);
    flags = flags === undefined ? "" : String(flags);
    let expanded = expand(pattern, flags), native = flags;
    // All cases of letters are written out, and the flag i is gone.
    if (typeof expanded !== "string") { native = expanded[1]; expanded = expanded[0]; }
    const plain = !has(flags, "d") && !has(flags, "v");
    if (plain && expanded === pattern && !has(pattern, "/") && !has(pattern, "\\\n") && !has(pattern, "\\\r")) return construct(NativeRegExp, [expanded, flags], target);
    native = without(native, "d");
    if (has(native, "v")) native = without(native, "v") + "u";
    const re = construct(NativeRegExp, [expanded, native], target);
    if (!plain) install();
    apply(set, more, [re, { flags, native, source: shown(pattern), pattern: expanded }]);
    return re;
  };
  function Guarded(pattern, flags) {
    if (new.target === undefined && flags === undefined && isRegExp(pattern) && pattern.constructor === Guarded) return pattern;
    return make(pattern, flags, new.target === undefined || new.target === Guarded ? NativeRegExp : new.target);
  }
  defineProperty(Guarded, "name", { value: "RegExp" });
  defineProperty(Guarded, "prototype", { value: proto, writable: false });
  // The engine splits fast only while the species is its own constructor.
  defineProperty(Guarded, Symbol.species, { get() { return this === Guarded ? NativeRegExp : this; }, configurable: true });
  define(global, "RegExp", Guarded);
  define(proto, "constructor", Guarded);
  defineProperty(proto, "source", {
    get() {
      const m = extra(this), source = apply(nativeSource, this, []);
      return m !== undefined ? m.source : author(source);
    }, configurable: true,
  });
  define(proto, "toString", function toString() {
    if (!isObject(this)) throw new TypeError("RegExp.prototype.toString called on something that is no object");
    return "/" + this.source + "/" + this.flags;
  });
  // It would change an expression behind our back.
  define(proto, "compile", function compile(pattern, flags) {
    if (!isRegExp(this)) throw new TypeError("RegExp.prototype.compile called on something that is no regular expression");
    throw new SyntaxError("RegExp.prototype.compile is not supported; make a new expression");
  });
  for (let i = 0; i < lastMatch.length; i++) {
    const name = lastMatch[i], fail = () => { throw new TypeError(notKept(name)); };
    defineProperty(Guarded, name, { get: fail, set: fail, enumerable: false, configurable: true });
  }
  define(Guarded, "escape", function escape(text) {
    if (typeof text !== "string") throw new TypeError("RegExp.escape needs a string");
    let out = "";
    const hex = (n, width) => { n = n.toString(16); while (n.length < width) n = "0" + n; return n; };
    for (let i = 0; i < text.length; i++) {
      const c = text[i], n = text.charCodeAt(i), word = n >= 48 && n <= 57 || n >= 65 && n <= 90 || n >= 97 && n <= 122;
      if (i === 0 && word) out += "\\x" + hex(n, 2);
      else if (has("^$\\.*+?()[]{}|/", c)) out += "\\" + c;
      else if (n >= 9 && n <= 13) out += "\\" + "tnvfr"[n - 9];
      else if (has(",-=<>#&!%:;@~'`\"", c) || n === 32 || n === 160) out += "\\x" + hex(n, 2);
      else if (n === 0xFEFF || n === 0x2028 || n === 0x2029 || n === 0x1680 || n >= 0x2000 && n <= 0x200A || n === 0x202F || n === 0x205F || n === 0x3000) out += "\\u" + hex(n, 4);
      else if (n >= 0xD800 && n <= 0xDFFF) {
        const d = i + 1 < text.length ? text.charCodeAt(i + 1) : 0;
        if (n < 0xDC00 && d >= 0xDC00 && d <= 0xDFFF) { out += c + text[++i]; } else out += "\\u" + hex(n, 4);
      } else out += c;
    }
    return out;
  });
})
