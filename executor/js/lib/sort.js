// Array.prototype.sort with a comparison: it sorts a list of its own and writes
// that back (ECMA-262 23.1.3.30), while the engine's sorts the array itself,
// which the comparison may change under it.
(function (native, isArray) {
  "use strict";
  const { apply } = Reflect;
  return function sort(compare) {
    if (compare === undefined || typeof compare !== "function" || !isArray(this)) return apply(native, this, [compare]);
    const length = this.length, list = [];
    for (let i = 0; i < length; i++) if (i in this) list[list.length] = this[i];
    apply(native, list, [compare]);
    const sorted = list.length;
    for (let i = 0; i < sorted; i++) this[i] = list[i];
    for (let i = sorted; i < length; i++) delete this[i];
    return this;
  };
})
