// The methods of dates that the engine lacks.
(function (proto) {
  "use strict";
  const { getFullYear, setFullYear, setTime, toUTCString } = proto, apply = Reflect.apply, trunc = Math.trunc;
  const methods = {
    getYear() { return apply(getFullYear, this, []) - 1900; },
    setYear(year) {
      apply(getFullYear, this, []); // which checks what it is called on
      year = trunc(+year);
      if (year !== year) return apply(setTime, this, [NaN]);
      return apply(setFullYear, this, [year >= 0 && year <= 99 ? year + 1900 : year]);
    },
    toGMTString: toUTCString,
  };
  for (const key of Object.keys(methods)) Object.defineProperty(proto, key, { value: methods[key], writable: true, enumerable: false, configurable: true });
})
