package js

import "testing"

// TestMembersInPlace holds the answers of node for operators that assign to a
// member whose object or key is computed.
func TestMembersInPlace(t *testing.T) {
	rows(t, []row{
		{`const l=[],o={x:1e20};const f=n=>{l.push(n);return n==="o"?o:n==="k"?"x":1};f("o")[f("k")]|=f("v");return [o.x,l]`,
			`[1661992961,["o","k","v"]]`},
		{`const o={x:1e20,y:2e20,z:3e20,w:5e19,v:7e22,u:557};const k=n=>n;o[k("x")]|=1;o[k("y")]&=0xffffff;o[k("z")]^=3;o[k("w")]<<=3;o[k("v")]>>=1;o[k("u")]**=49;let p=(o[k("y")]>>>=2);return [o,p]`,
			`[{"x":1661992961,"y":524288,"z":691011587,"w":-1941962752,"v":-268435456,"u":3.5229344582797477e+134},524288]`},
		{`const a=[1e20,2e20,3e20];for(let i=0;i<3;i++)a[i]|=1;let n=0;a[n++]>>>=1;a[n+0]^=1e20;return [a,n]`,
			`[[830996480,-1523580927,691011585],1]`},
		{`const s=Symbol(),o={[s]:1e20};const g=()=>o;g()[s]|=0;return o[s]`,
			`1661992960`},
		{`const o={x:{y:1e20}};const g=()=>o;g().x.y|=0;g().x["y"]+=1e20;g().x["y"]>>>=0;return o`,
			`{"x":{"y":3323985920}}`},
		{`class A{#p=1e20;static n=0;me(){A.n++;return this}f(){this.me().#p|=1;return this.#p}}const a=new A();return [a.f(),A.n]`,
			`[1661992961,1]`},
		{`class B{get x(){return 1e20}set x(v){this.got=v}get y(){return 3}set y(v){this.two=v}}class C extends B{f(k){super[k()]|=1;super.y**=2;super["x"]|=1;return [this.got,this.two]}}return new C().f(()=>"x")`,
			`[1661992961,9]`},
		{`"use strict";const o=Object.freeze({x:1e20});const g=()=>o;try{g().x|=1}catch(e){return [e.name,o.x]}`,
			`["TypeError",100000000000000000000]`},
		{`const o=Object.freeze({x:1e20});const g=()=>o;const v=(g()["x"]|=1);return [v,o.x]`,
			`[1661992961,100000000000000000000]`},
		{`const o={get x(){return 1e20}};const g=()=>o;g()["x"]|=1;return (function(){"use strict";try{g()["x"]|=1}catch(e){return e.name}})()`,
			`"TypeError"`},
		{`const l=[];const n=()=>null;try{n()[{toString(){l.push("key")}}]|=l.push("right")}catch(e){return [e.name,l]}`,
			`["TypeError",[]]`},
		{`const l=[];const f=async(o,k,v)=>{const g=async x=>{await null;l.push(x);return x};(await g(o))[await g(k)]|=await g(v);return o};const r=await Promise.all([f({a:1e20},"a",1),f({b:3e20},"b",2),f({c:5},"c",8)]);return r`,
			`[{"a":1661992961},{"b":691011586},{"c":13}]`},
		{`const o={x:1e20},q={y:2e20};const g=x=>x;g(o)[g("x")]|=(g(q)[g("y")]|=1);return [o,q]`,
			`[{"x":-416284671},{"y":-970981375}]`},
		{`const q={y:2e20};const o={get x(){q[String("y")]|=1;return 1e20}, set x(v){q[String("z")]|=v;this.w=v}};const g=x=>x;g(o)[g("x")]|=1;return [o.w,q]`,
			`[1661992961,{"y":-970981375,"z":1661992961}]`},
		{`const o={x:2n**70n};const g=x=>x;g(o)[g("x")]|=1n;g(o)[g("x")]>>=60n;g(o)[g("x")]**=3n;return String(o.x)`,
			`"1073741824"`},
		{`const o={x:2n};const g=x=>x;try{g(o)[g("x")]|=1}catch(e){return [e.name,String(o.x)]}`,
			`["TypeError","2"]`},
		{`const l=[];const p=new Proxy({x:1e20},{get(t,k){l.push("get "+String(k));return t[k]},set(t,k,v){l.push("set "+String(k));t[k]=v;return true}});const g=()=>p;g()[{toString:()=>"x"}]|=1;return [l,p.x]`,
			`[["get x","set x","get x"],1661992961]`},
		{`const u=new Uint32Array([1,2,3]);const g=x=>x;u[g(0)]|=4;u[g(9)]|=1;u["-0"]|=1;return [[...u],u[9]===undefined]`,
			`[[5,2,3],true]`},
		{`function*f(){const o={x:1e20};o[yield 1]|=yield 2;return o}const i=f();i.next();i.next("x");return i.next(3).value`,
			`{"x":1661992963}`},
		{`const g=x=>x;g("abc")[g(1)]|=1;return (function(){"use strict";try{g("abc")[g(1)]|=1}catch(e){return e.name}})()`,
			`"TypeError"`},
		{`Reflect.ownKeys=()=>["bad"];const o={x:1e20};o[{toString:()=>"x"}]|=1;return Object.keys(o)`,
			`["x"]`},
		{`const o={__proto__:null};const k=()=>"__proto__";o[k()]|=5;return [Object.keys(o),o["__proto__"]]`,
			`[["__proto__"],5]`},
		{`const o={1:1e20,"1.5":2e20,true:3e20,null:4e20};const g=x=>x;o[g(1)]|=0;o[g(1.5)]|=0;o[g(true)]|=0;o[g(null)]|=0;return o`,
			`{"1":1661992960,"1.5":-970981376,"true":691011584,"null":-1941962752}`},
		// The language makes a key a name once; node 20 does it twice.
		{`let c=0;const key={toString(){c++;return "x"}},o={x:1e20};o[key]|=1;o[key]**=2;return [o.x,c]`,
			`[2762220602413547500,2]`},
	})
}

// TestMembersInPlaceCost holds that such an assignment counts as before.
func TestMembersInPlaceCost(t *testing.T) {
	for _, operator := range []string{"|=", "**=", ">>>="} {
		cost := func(op string) int64 {
			return *run(t, `const o = { x: 4 }, g = x => x; for (let i = 0; i < 10; i++) g(o)[g("x")] `+op+` (() => 1)()`, `{}`).Usage.Statements
		}
		if got, want := cost(operator), cost("+="); got != want || got == 0 {
			t.Errorf("%s costs %d, += %d", operator, got, want)
		}
	}
}
