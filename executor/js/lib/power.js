// The operator ** for what are not both numbers. Numbers go back to the caller,
// which computes them exactly; the engine does the others.
(function (power) {
  "use strict";
  const numeric = (v) => v++;
  return (a, b) => {
    a = numeric(a);
    b = numeric(b);
    return typeof a === "number" && typeof b === "number" ? power(a, b) : a ** b;
  };
})
