// A value as the operators on numbers take it: a number or a BigInt.
(function () {
  "use strict";
  return (v) => v++;
})
