// Visits the names of an object's members one by one, inherited ones last,
// until visit says true: the engine's own list makes all of them first.
(function () {
  "use strict";
  return (obj, visit) => { for (const key in obj) if (visit(key)) break; };
})
