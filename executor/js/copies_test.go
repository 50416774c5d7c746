package js

import "testing"

// TestArgumentsAreCopied holds what a trap of a proxy is given: a list of its
// own, that nothing changes later.
func TestArgumentsAreCopied(t *testing.T) {
	rows(t, []row{
		{`const cache=[];const f=new Proxy((a,b)=>a+b,{apply(t,th,a){cache.push(a);return t(...a)}});f(1,2);f(3,4);f(5,6);return cache`, `[[1,2],[3,4],[5,6]]`},
		{`const P=new Proxy(class{},{construct(t,args){return {args}}});const o=new P(1,2);Math.max(7,8);[5,6,7].map(x=>x+1);return o.args`, `[1,2]`},
		{`let kept;const f=new Proxy(function(){},{apply(t,s,a){kept=a}});f(...new Array(300).fill(7));const g=(a,b,c)=>{kept.fill(9);return [a,b,c]};return [g(1,2,3),kept.length,kept[0]]`, `[[1,2,3],300,9]`},
		{`const log=[];const h={apply(t,s,a){log.push(this===h,a.length);return 1},get(t,k,r){log.push(k);return Reflect.get(t,k,r)},has(){log.push(this===h);return true},deleteProperty(){return true},ownKeys(t){return Reflect.ownKeys(t)},getOwnPropertyDescriptor(t,k){return Reflect.getOwnPropertyDescriptor(t,k)}};const p=new Proxy(function f(){},h);p(1);p.name;"x" in p;return [log,delete p.q,Object.keys(p),typeof p]`,
			`[[true,1,"name",true],true,[],"function"]`},
		{`const {proxy,revoke}=Proxy.revocable(function(){return 3},{apply(t,s,a){return [s,a]}});const r=proxy.call(5,6);revoke();try{proxy()}catch(e){return [r,e.name]}`, `[[5,[6]],"TypeError"]`},
		{`const out=[];try{Proxy(function(){}, {})}catch(e){out.push(e.name)}try{new Proxy(function(){},1)}catch(e){out.push(e.name)}return [...out,Proxy.name,Proxy.length,typeof Proxy.prototype,new Proxy([1],{}).length,Array.isArray(new Proxy([],{}))]`,
			`["TypeError","TypeError","Proxy",2,"undefined",1,true]`},
		{`const h={};const f=new Proxy(function(){return 1},h);const a=f();h.apply=()=>2;const b=f();h.apply=null;const c=f();try{h.apply=3;f()}catch(e){return [a,b,c,e.name]}`, `[1,2,1,"TypeError"]`},
		{`class A{constructor(x){this.x=x}};const P=new Proxy(A,{construct(t,a,n){return Reflect.construct(t,a,n)}});class B extends P{};const b=new B(4);return [b.x,b instanceof B,b instanceof A,new P(2) instanceof A]`, `[4,true,true,true]`},
	})
}

// TestWordsByAnyName holds what functions of 32 bits make of large numbers,
// however the program calls them.
func TestWordsByAnyName(t *testing.T) {
	const x = `const x=2**64+20480;`
	rows(t, []row{
		{x + `const {imul,clz32}=Math;const M=Math;return [Math["imul"](x,1),imul(x,1),clz32(x),M.imul(x,1),[x].map(Math.clz32),Math?.imul(x,1),Math.imul.apply(null,[x,1]),Math.imul(...[x,1]),Math.imul(x,1)]`,
			`[20480,20480,17,20480,[17],20480,20480,20480,20480]`},
		{x + `return [String.fromCharCode(...[x]).charCodeAt(0),String.fromCharCode.apply(null,[x]).charCodeAt(0),String.fromCharCode(x).charCodeAt(0)]`, `[20480,20480,20480]`},
		{`return ["a,b,c".split(",",2**64+2**15).length,"a,b,c".split(/,/,2**64+2**15).length,"a,b".split(",",undefined).length,"a,b".split(",","1").length,"a,b".split(",",1).length]`, `[3,3,2,1,1]`},
		{`const o={split:(a,b)=>b};return [o.split(1,2**64),o.split(1,"x")]`, `[18446744073709552000,"x"]`},
	})
}

// TestConvertedOnce holds that a guard converts an argument no second time.
func TestConvertedOnce(t *testing.T) {
	rows(t, []row{
		{`let n=0;return ["ab".repeat({valueOf(){return ++n}}),"a".padStart({valueOf(){return 2+n++}},"-"),n]`, `["ab","--a",2]`},
		{`let n=0;try{return "x".repeat({valueOf(){return n++?1:2**29}}).length}catch(e){return e.name}`, `"RangeError"`},
		{`return ["a".repeat(),"a".padEnd(),"a".padEnd(3,"b")]`, `["","a","abb"]`},
	})
}

// TestDeepMatches: a match that goes back over much text is found all the same.
func TestDeepMatches(t *testing.T) {
	rows(t, []row{
		{`const s="4111111111111111 ".repeat(4000);const m=s.match(/(?<!\w)\d(?:[ -]?\d){12,}(?!\w)/g);return [m.length,m[0].length]`, `[1,67999]`},
		{`const s="ab".repeat(200000)+"c";return [/(?=a)(?:a|b)*c/.test(s),/^(?=a)(?:ab)*?c$/.test(s),s.replace(/(?<=b)(?:a|b)*c/,"!").length]`, `[true,true,3]`},
	})
}
