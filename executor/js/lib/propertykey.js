// A value as the name of a property, which is a text or a symbol.
(function () {
  "use strict";
  const keys = Reflect.ownKeys;
  return (v) => keys({ [v]: 0 })[0];
})
