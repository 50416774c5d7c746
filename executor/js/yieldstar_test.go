package js

import "testing"

// TestYieldStarAsInNode holds the answers of node for yield* of sync generators
// in programs that are rewritten.
func TestYieldStarAsInNode(t *testing.T) {
	rows(t, []row{
		{`async function* AG(){} function* f(){yield* [1,2]} return [...f()]`,
			`[1,2]`},
		{`async function* AG(){yield* f()} function* f(){const r=yield* g();yield r} function* g(){try{yield 1;yield 2;return 3}finally{}} const l=[];for await(const x of AG())l.push(x);const i=f();return [l,i.next(),i.next(),i.next(),i.next()]`,
			`[[1,2,3],{"value":1,"done":false},{"value":2,"done":false},{"value":3,"done":false},{"done":true}]`},
		{`for await(const x of [1]){} const o={*m(){yield* new Set([1,2])}}; class C{*[Symbol.iterator](){yield* o.m()} static *s(){yield* 'ab'}} return [...new C,...C.s()]`,
			`[1,2,"a","b"]`},
		{`async function* AG(){const k=function*(){yield* (0,[7])}; yield [...k()]; yield* [8]} const l=[];for await(const x of AG())l.push(x);return l`,
			`[[7],8]`},
		{`function* f(){try{yield* {[Symbol.iterator](){return{next(v){return{value:v,done:false}},return(v){return{value:v+1,done:true}}}}}}finally{yield 'f'}} for await(const x of []);const g=f();return [g.next(1),g.next(2),g.return(3),g.next()]`,
			`[{"done":false},{"value":2,"done":false},{"value":"f","done":false},{"value":4,"done":true}]`},
		{`function* f(){yield* 5} async function* g(){} try{f().next()}catch(e){return e.name}`,
			`"TypeError"`},
		{`function* f(){yield* [1]} for await(const x of f())return [x,'a'.match(/a/d).indices[0]]`,
			`[1,[0,1]]`},
		{`function* f(){yield* [1]} return [[...f()],'a'.match(/a/d).indices[0]]`,
			`[[1],[0,1]]`},
	})
}
