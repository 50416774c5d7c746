// What stands in for async generators (ECMA-262 27.6) and their yield*. Each
// helper becomes one line. The generator below yields an __await for what is
// to be awaited; its third member, if true, is handed out as it is. With a fourth
// argument the first helper makes references to members of super instead.
var __await = function (value, kind, ready) {
  this.value = value; this.kind = kind; this.ready = ready;
};
var __asyncGenerator = (__this, __arguments, generator, reference) => {
  if (reference) return (key) => ({ get value() { return __this(key); }, set value(v) { __arguments(key, v); }, call: (...list) => generator(key, ...list) });
  var queue = [], busy = false, state = 0;
  generator = generator.apply(__this, __arguments);
  var drain = async () => {
    busy = true;
    while (queue.length) {
      var request = queue[0], kind = request.kind, value = request.value, failed = false, done = true;
      if (state === 0 && kind !== "next") state = 2;
      if (kind === "return") {
        try { value = await value; } catch (e) { if (state === 2) failed = true; kind = "throw"; value = e; }
      }
      if (state === 2) {
        if (kind === "throw") failed = true;
        if (kind === "next") value = undefined;
      } else {
        state = 1;
        for (;;) {
          try {
            var step = generator[kind](value);
            value = step.value;
          } catch (e) { state = 2; failed = true; value = e; break; }
          if (step.done) { state = 2; break; }
          var wait = value instanceof __await, next = "next";
          if (wait && value.ready) { value = value.value; done = false; break; }
          if (wait) { next = value.kind || next; value = value.value; }
          try { value = await value; } catch (e) { kind = "throw"; value = e; continue; }
          if (!wait) { done = false; break; }
          kind = next;
        }
      }
      queue.shift();
      if (failed) request.no(value); else request.yes({ value, done });
    }
    busy = false;
  };
  var it = {}, add = (key, value) => Object.defineProperty(it, key, { value, writable: true, enumerable: false, configurable: true });
  var method = (kind) => add(kind, (value) => new Promise((yes, no) => {
    queue.push({ kind, value, yes, no });
    if (!busy) drain();
  }));
  method("next"); method("return"); method("throw");
  add(Symbol.asyncIterator, () => it); add(Symbol.toStringTag, "AsyncGenerator");
  return it;
};
var __yieldStar = (list) => {
  var isObject = (x) => x !== null && (typeof x === "object" || typeof x === "function");
  var check = (x) => { if (!isObject(x)) throw new TypeError("Iterator result " + String(x) + " is not an object"); return x; };
  var get = list[Symbol.asyncIterator], sync = get === undefined || get === null;
  if (sync) get = list[Symbol.iterator];
  if (typeof get !== "function") throw new TypeError("the value of yield* is not async iterable");
  var inner = get.call(list), waits = "";
  if (!isObject(inner)) throw new TypeError("Result of the Symbol.asyncIterator method is not an object");
  var next = inner.next;
  var settled = async (fn, value) => {
    var step = check(fn.call(inner, value)), done = !!step.done;
    return { done, value: await step.value };
  };
  var ask = (fn, value) => sync ? settled(fn, value) : fn.call(inner, value);
  var pause = (value, kind, what) => { waits = what; return { done: false, value: new __await(value, kind) }; };
  var method = (kind) => (value) => {
    if (waits) {
      var was = waits;
      waits = "";
      if (kind === "throw") throw value;
      if (was === "gone") return { done: true, value };
      check(value);
      if (was === "close") throw new TypeError("The iterator does not provide a 'throw' method.");
      return value.done ? { done: true, value: value.value } : { done: false, value: new __await(value.value, "", true) };
    }
    if (kind === "next") return pause(ask(next, value), "", "step");
    var fn = inner[kind], missing = fn === undefined || fn === null;
    if (!missing) return pause(ask(fn, value), kind === "return" ? kind : "", "step");
    if (kind === "return") return pause(value, kind, "gone");
    if (sync) throw value;
    fn = inner.return;
    if (fn === undefined || fn === null) throw new TypeError("The iterator does not provide a 'throw' method.");
    return pause(fn.call(inner), "", "close");
  };
  return { [Symbol.iterator]() { return this; }, next: method("next"), throw: method("throw"), return: method("return") };
};
var __forAwait = (list) => {
  var isObject = (x) => x !== null && (typeof x === "object" || typeof x === "function");
  var check = (x) => { if (!isObject(x)) throw new TypeError("Iterator result " + String(x) + " is not an object"); return x; };
  var get = list[Symbol.asyncIterator], sync = get === undefined || get === null;
  if (sync) get = list[Symbol.iterator];
  if (typeof get !== "function") throw new TypeError("the value of for await is not async iterable");
  var inner = get.call(list);
  if (!isObject(inner)) throw new TypeError("Result of the Symbol.asyncIterator method is not an object");
  var next = inner.next;
  var settled = (fn) => new Promise((yes, no) => {
    var step = check(fn.call(inner)), done = step.done;
    Promise.resolve(step.value).then((value) => yes({ value, done }), no);
  });
  var ask = (fn) => sync ? settled(fn) : fn.call(inner);
  return { check, next: () => ask(next), get return() {
    var fn = inner.return;
    return fn === undefined || fn === null ? undefined : () => ask(fn);
  } };
};
