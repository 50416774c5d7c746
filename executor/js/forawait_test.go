package js

import "testing"

// TestForAwaitSteps holds the answers of node for what iterators give to for-await.
func TestForAwaitSteps(t *testing.T) {
	for _, tc := range []struct{ body, want string }{
		{`try { for await (const x of { [Symbol.asyncIterator]: () => ({ next: () => 5 }) }) ; } catch (e) { return [e.name, e.message] }`,
			`["TypeError","Iterator result 5 is not an object"]`},
		{`try { for await (const x of { [Symbol.asyncIterator]: () => ({ next: async () => 5 }) }) ; } catch (e) { return [e.name, e.message] }`,
			`["TypeError","Iterator result 5 is not an object"]`},
		{`try { for await (const x of { [Symbol.iterator]: () => ({ next: () => 5 }) }) ; } catch (e) { return [e.name, e.message] }`,
			`["TypeError","Iterator result 5 is not an object"]`},
		{`try { for await (const x of { [Symbol.asyncIterator]: () => 5 }) ; } catch (e) { return [e.name, e.message] }`,
			`["TypeError","Result of the Symbol.asyncIterator method is not an object"]`},
		{`try { async function* g() { yield* { [Symbol.asyncIterator]: () => ({ next: async () => 5 }) } } for await (const x of g()) ; } catch (e) { return [e.name, e.message] }`,
			`["TypeError","Iterator result 5 is not an object"]`},
		{`try { for await (const x of { [Symbol.asyncIterator]: () => ({ next: async () => ({ value: 1, done: false }), return: async () => 5 }) }) break; } catch (e) { return [e.name, e.message] }`,
			`["TypeError","Iterator result 5 is not an object"]`},
		{`try { for await (const x of { [Symbol.asyncIterator]: () => ({ next: async () => ({ value: 1, done: false }), return: async () => 5 }) }) throw new Error("own") } catch (e) { return [e.name, e.message] }`,
			`["Error","own"]`},
		{`try { for await (const x of { [Symbol.iterator]: () => ({ next: () => ({ value: 1, done: false }), return: () => 5 }) }) break; } catch (e) { return [e.name, e.message] }`,
			`["TypeError","Iterator result 5 is not an object"]`},
		{`async function* g() { for await (const x of { [Symbol.asyncIterator]: () => ({ next: () => 5 }) }) yield x } try { await g().next() } catch (e) { return [e.name, e.message] }`,
			`["TypeError","Iterator result 5 is not an object"]`},
		{`async function* g() { for await (const x of [1, Promise.resolve(2), 3]) yield x } const o = []; outer: for await (const x of g()) { for await (const y of [1, 2]) { if (y === 2) continue outer; if (x === 3) break outer; o.push([x, y]) } } return o`,
			`[[1,1],[2,1]]`},
		{`try { for await (const x of 5) ; } catch (e) { return e.name }`,
			`"TypeError"`},
		{`try { for await (const x of null) ; } catch (e) { return e.name }`,
			`"TypeError"`},
		{`let calls = []; const it = { get next() { calls.push("get next"); let i = 0; return function (...a) { calls.push(["next", a.length, this === it]); return { value: i++, done: i > 2 } } }, get return() { calls.push("get return"); return function (...a) { calls.push(["return", a.length]); return {} } } }; for await (const x of { [Symbol.asyncIterator]: () => it }) ; for await (const x of { [Symbol.asyncIterator]: () => it }) break; return calls`,
			`["get next",["next",0,true],["next",0,true],["next",0,true],"get next",["next",0,true],"get return",["return",0]]`},
		{`let r = []; for await (const [a, { b = 5 }] of [[1, {}], Promise.resolve([2, { b: 3 }])]) r.push(a, b); let z; for await (z of [7]); r.push(z); return r`,
			`[1,5,2,3,7]`},
		{`try { for await (const x of [Promise.reject(new Error("p"))]) ; } catch (e) { return e.message }`,
			`"p"`},
		{`try { for await (const x of { [Symbol.asyncIterator]: () => ({ next: async () => ({ value: 1 }), return: 5 }) }) break } catch (e) { return e.name }`,
			`"TypeError"`},
		{`const o = []; const log = (x) => o.push(x); (async () => { for (let i = 0; i < 20; i++) { await null; log(i) } })(); for await (const x of [1, Promise.resolve(2), 3]) log("x" + x); return [...o]`,
			`[0,1,"x1",2,3,"x2",4,5,"x3",6,7]`},
		{`const o = []; const log = (x) => o.push(x); (async () => { for (let i = 0; i < 30; i++) { await null; log(i) } })(); async function* g() { yield 1; yield 2 } for await (const x of g()) { log("x" + x); } return [...o]`,
			`[0,1,"x1",2,3,"x2",4]`},
		{`const o = []; const log = (x) => o.push(x); (async () => { for (let i = 0; i < 30; i++) { await null; log(i) } })(); let n = 0; for await (const x of { [Symbol.asyncIterator]() { return { next: async () => ({ value: n, done: n++ > 2 }), return: async () => { log("r"); return {} } } } }) { log("x" + x); if (n === 2) break } log("end"); return [...o]`,
			`[0,"x0",1,"x1","r",2,"end"]`},
	} {
		if got := outcome(run(t, tc.body, `{}`)); got != tc.want {
			t.Errorf("%s\ngot  %s\nwant %s", tc.body, got, tc.want)
		}
	}
}
