// Loaded for programs with regular expressions whose matches the engine's own
// methods of text count otherwise than ECMAScript: those that match the empty
// text, are sticky, look around. Others keep the engine's way.
(function (proto, plain, find, most) {
  "use strict";
  const defineProperty = Object.defineProperty, apply = Reflect.apply, prototypeOf = Object.getPrototypeOf;
  const getter = (key) => Object.getOwnPropertyDescriptor(proto, key).get;
  const nativeSource = getter("source"), nativeFlags = getter("flags"), nativeExec = proto.exec;
  const owns = Object.prototype.hasOwnProperty, includes = String.prototype.includes, slice = String.prototype.slice;
  const indexOf = String.prototype.indexOf, code = String.prototype.charCodeAt, join = Array.prototype.join;
  const NativeRegExp = RegExp;
  const nativeReplace = proto[Symbol.replace], nativeMatch = proto[Symbol.match], nativeSplit = proto[Symbol.split];
  const cut = (text, from, to) => apply(slice, text, [from, to]);
  let flagsOf = (re) => apply(nativeFlags, re, []);
  const has = (text, c) => apply(includes, text, [c]);
  // Whether re runs as the class has it and not in the engine's plain way.
  // With an exec of the class's own, for the flag d, the engine has no plain way.
  let ownExec;
  const ours = (re) => re !== null && typeof re === "object" && re !== proto && prototypeOf(re) === proto && (proto.exec === nativeExec || proto.exec === ownExec) && !apply(owns, re, ["exec"])
    && re instanceof NativeRegExp && (proto.exec === ownExec || !plain(apply(nativeSource, re, []), flagsOf(re)));
  // The parts of a template, a text or what stands for one: -2 and -1 for what
  // is before and behind, a number for a group, [name] for a group by name.
  const template = (text, groups, named) => {
    const out = [];
    let from = 0, at = 0;
    const digit = (i) => { const c = apply(code, text, [i]) - 48; return c >= 0 && c <= 9 ? c : -1; };
    const put = (x, width) => { if (at > from) out[out.length] = cut(text, from, at); out[out.length] = x; from = at + width; at = from; };
    while ((at = apply(indexOf, text, ["$", at])) >= 0) {
      const c = text[at + 1];
      if (c === "$") put("$", 2);
      else if (c === "&") put(0, 2);
      else if (c === "`") put(-2, 2);
      else if (c === "'") put(-1, 2);
      else if (c === "<" && named) {
        const end = apply(indexOf, text, [">", at]);
        if (end < 0) at += 2; else put([cut(text, at + 2, end)], end + 1 - at);
      } else {
        const d = digit(at + 1), e = d < 0 ? -1 : digit(at + 2);
        if (d >= 0 && e >= 0 && d * 10 + e > 0 && d * 10 + e <= groups) put(d * 10 + e, 3);
        else if (d > 0 && d <= groups) put(d, 2);
        else at++;
      }
    }
    out[out.length] = cut(text, from);
    return out;
  };
  const methods = {
    [Symbol.replace](text, value) {
      text = `${text}`;
      if (!ours(this)) return apply(nativeReplace, this, [text, value]);
      const call = typeof value === "function", flags = flagsOf(this);
      if (!call) value = `${value}`;
      const list = []; // matches: place, texts of the groups, groups by name
      if (has(flags, "g")) {
        this.lastIndex = 0;
        const found = find(apply(nativeSource, this, []), flags, text, false), names = found[0], flat = found[1], width = 2 * names.length;
        for (let i = 0; i < flat.length; i += width) {
          const m = { __proto__: null, index: flat[i], texts: [], groups: undefined };
          for (let k = 0; k < names.length; k++) {
            const at = flat[i + 2 * k];
            m.texts[k] = at < 0 ? undefined : cut(text, at, flat[i + 2 * k + 1]);
            if (names[k] !== "") { if (m.groups === undefined) m.groups = { __proto__: null }; m.groups[names[k]] = m.texts[k]; }
          }
          list[list.length] = m;
        }
      } else {
        const m = apply(nativeExec, this, [text]);
        if (m === null) return text;
        const texts = [];
        for (let k = 0; k < m.length; k++) texts[k] = m[k];
        list[0] = { __proto__: null, index: m.index, texts, groups: m.groups };
      }
      const out = [];
      let last = 0, size = 0, parts;
      const add = (part) => {
        if ((size += part.length) > most) throw new RangeError("Invalid string length");
        out[out.length] = part;
      };
      for (let i = 0; i < list.length; i++) {
        const m = list[i], texts = m.texts, end = m.index + texts[0].length;
        add(cut(text, last, m.index));
        last = end;
        if (call) {
          const args = [];
          for (let k = 0; k < texts.length; k++) args[k] = texts[k];
          args[args.length] = m.index;
          args[args.length] = text;
          if (m.groups !== undefined) args[args.length] = m.groups;
          add(`${apply(value, undefined, args)}`);
          continue;
        }
        if (parts === undefined) parts = template(value, texts.length - 1, m.groups !== undefined);
        for (let k = 0; k < parts.length; k++) {
          const p = parts[k];
          if (typeof p === "string") add(p);
          else if (p === -2) add(cut(text, 0, m.index));
          else if (p === -1) add(cut(text, end));
          else {
            const part = typeof p === "number" ? texts[p] : m.groups[p[0]];
            if (part !== undefined) add(part);
          }
        }
      }
      add(cut(text, last));
      return apply(join, out, [""]);
    },
    [Symbol.match](text) {
      text = `${text}`;
      if (!ours(this)) return apply(nativeMatch, this, [text]);
      const flags = flagsOf(this);
      if (!has(flags, "g")) return apply(proto.exec, this, [text]);
      this.lastIndex = 0;
      const found = find(apply(nativeSource, this, []), flags, text, false), flat = found[1], out = [];
      for (let i = 0; i < flat.length; i += 2 * found[0].length) out[out.length] = cut(text, flat[i], flat[i + 1]);
      return out.length === 0 ? null : out;
    },
    [Symbol.split](text, limit) {
      text = `${text}`;
      if (!ours(this)) return apply(nativeSplit, this, [text, limit]);
      const flags = flagsOf(this), out = [];
      limit = limit === undefined ? 4294967295 : limit >>> 0;
      if (limit === 0) return out;
      const found = find(apply(nativeSource, this, []), flags, text, true), width = 2 * found[0].length, flat = found[1];
      if (text === "") return flat.length > 0 ? out : [text];
      let last = 0;
      for (let i = 0; i < flat.length; i += width) {
        out[out.length] = cut(text, last, flat[i]);
        if (out.length === limit) return out;
        last = flat[i + 1];
        for (let k = 2; k < width; k += 2) {
          out[out.length] = flat[i + k] < 0 ? undefined : cut(text, flat[i + k], flat[i + k + 1]);
          if (out.length === limit) return out;
        }
      }
      out[out.length] = cut(text, last);
      return out;
    },
  };
  for (const key of [Symbol.replace, Symbol.match, Symbol.split]) defineProperty(proto, key, { value: methods[key], writable: true, enumerable: false, configurable: true });
  return (flags, exec) => { flagsOf = flags; ownExec = exec; };
})
