package js

import "testing"

// TestRestOfMatches holds the order in which node gives the rest of a match to
// a loop.
func TestRestOfMatches(t *testing.T) {
	rows(t, []row{
		{`const out=[];for(const {0:a,...r} of "a1b2".matchAll(/[a-z](?<n>\d)/g))out.push(a,Object.keys(r));return out`,
			`["a1",["1","index","input","groups"],"b2",["1","index","input","groups"]]`},
		{`const out=[];for(let {0:a,...r} of "ab".matchAll(/./g)){a+="!";let r2=r;out.push(()=>[a,Object.keys(r2)])}return out.map(f=>f())`,
			`[["a!",["index","input","groups"]],["b!",["index","input","groups"]]]`},
		{`const out=[];for(var {...r} of [/b/.exec("abc"),"b".match(/b/)]){if(out.length)continue;out.push(Object.keys(r))}return [out,Object.keys(r)]`,
			`[[["0","index","input","groups"]],["0","index","input","groups"]]`},
		{`let a,r;const out=[];top:for({0:a,...r} of [/b/.exec("abc"),{z:1,input:"",index:2,groups:3}]){for(const {...q} of [r]){out.push(Object.keys(q));continue top}}return out`,
			`[["index","input","groups"],["z","input","index","groups"]]`},
		{`const out=[];for(const {...r} of "ab".matchAll(/./g)){const r=1;out.push(r)}return out`,
			`[1,1]`},
		{`const l=[];const it={[Symbol.iterator]:()=>({next:()=>({value:null,done:false}),return(){l.push("closed");return {}}})};try{for(const {...r} of it)"match"}catch(e){return [e.name,l]}`,
			`["TypeError",["closed"]]`},
		{`for(const {...r} of [/b/.exec("abc")]){try{r=1}catch(e){return [e.name,Object.keys(r)]}}`,
			`["TypeError",["0","index","input","groups"]]`},
		{`const out=[];for await(const {0:a,...r} of ["b".match(/b/)])out.push(a,Object.keys(r));return out`,
			`["b",["index","input","groups"]]`},
		{`const f=[];for(const {0:a,...r} of "xy".matchAll(/./g))f.push(()=>a+r.index);return f.map(g=>g())`,
			`["x0","y1"]`},
	})
}
