// The operator "in", for objects that hide from the engine's own interface.
(function () {
  "use strict";
  return (obj, key) => key in obj;
})
