package js

import "testing"

// TestBuiltinsAsInNode holds the answers of node for built-ins that the engine gets wrong.
func TestBuiltinsAsInNode(t *testing.T) {
	for _, tc := range []struct{ body, want string }{
		{`return await Promise.any([Promise.reject(1), Promise.reject(2)]).catch(e => [e.message, e.name, e.errors, e instanceof AggregateError, Object.getOwnPropertyDescriptor(e, "message").enumerable, Object.getOwnPropertyDescriptor(e, "errors").enumerable])`,
			`["All promises were rejected","AggregateError",[1,2],true,false,false]`},
		{`return await Promise.any([]).catch(e => [e.message, e.errors.length])`,
			`["All promises were rejected",0]`},
		{`return await Promise.any([Promise.reject(1), 5, new Promise(r => setTimeout(r, 1))])`,
			`5`},
		{`const { any } = Promise; return await any.call(Promise, []).catch(e => e.message)`,
			`"All promises were rejected"`},
		{`return await Promise.any(5).catch(e => e.name)`,
			`"TypeError"`},
		{`try { Promise.any.call(5, []) } catch (e) { return e.name }`,
			`"TypeError"`},
		{`class P extends Promise {} const p = P.any([1]); return [p instanceof P, await p, Promise.any.name, Promise.any.length]`,
			`[true,1,"any",1]`},
		{`const o = []; const log = (x) => { o.push(x) }; const t = (async () => { for (let i = 0; i < 9; i++) { await null; log(i) } })(); Promise.any([Promise.reject(1), Promise.reject(2)]).catch(() => log("any")); Promise.any([7]).then(() => log("one")); await t; return [...o]`,
			`[0,1,"any","one",2,3,4,5,6,7,8]`},
		{`const b = new ArrayBuffer(8); new Uint8Array(b)[0] = 7; const c = structuredClone({ b, v: new Uint8Array(b) }, { transfer: [b] }); return [b.byteLength, c.b.byteLength, c.v[0], c.v.buffer === c.b]`,
			`[0,8,7,true]`},
		{`const b = new ArrayBuffer(8); try { structuredClone(1, { transfer: [b, b] }) } catch (e) { return [e.name, b.byteLength] }`,
			`["DataCloneError",8]`},
		{`const b = new ArrayBuffer(8); try { structuredClone(() => 1, { transfer: [b] }) } catch (e) { return [e.name, b.byteLength] }`,
			`["DataCloneError",8]`},
		{`const b = new ArrayBuffer(8); structuredClone(1, { transfer: new Set([b]) }); return b.byteLength`,
			`0`},
		{`try { structuredClone(1, { transfer: 5 }) } catch (e) { return [e.name] }`,
			`["TypeError"]`},
		{`const b = new ArrayBuffer(8); structuredClone(1, { transfer: [b] }); try { structuredClone(b) } catch (e) { return e.name }`,
			`"DataCloneError"`},
		{`try { structuredClone() } catch (e) { return e.name }`,
			`"TypeError"`},
		{`return [structuredClone(undefined) === undefined, structuredClone(1, {}), structuredClone(1, null), structuredClone(1, { transfer: [] })]`,
			`[true,1,1,1]`},
		{`const r=[]; const o=()=>[{k:1,v:"a"},{k:1,v:"b"},{k:0,v:"c"}]; r.push(o().sort((x,y)=>-1*(x.k-y.k)).map(e=>e.v).join("")); r.push(o().toSorted((x,y)=>-1*(x.k-y.k)).map(e=>e.v).join("")); r.push(o().sort((x,y)=>-NaN).map(e=>e.v).join("")); r.push(o().sort((x,y)=>({valueOf(){return -0}})).map(e=>e.v).join("")); r.push(o().sort((x,y)=>"-0").map(e=>e.v).join("")); r.push([...new Uint8Array([12,11,1,2]).sort((a,b)=>-0*(a-b))].join()); r.push([...new Uint8Array([12,11,1,2]).toSorted((a,b)=>-(a>>3)+(b>>3))].join()); r.push([3,2].toSorted().join()); try { [2,1].toSorted(5) } catch(e) { r.push(e.name) }; r.push([2,1].sort((a,b)=>undefined).join()); try { [2,1].sort((a,b)=>1n) } catch(e) { r.push(e.name) }; return r`,
			`["abc","abc","abc","abc","abc","12,11,1,2","12,11,1,2","2,3","TypeError","2,1","TypeError"]`},
		{`const u = new Uint8Array([5, 1, 4, 2]); const r = u.sort((a, b) => { u[0] = 9; return a - b }); return [[...u], r === u, u.sort.name, u.sort.length]`,
			`[[1,2,4,5],true,"sort",1]`},
		{`const u = new Float64Array([NaN, 1, -0, 0, -1, Infinity]); return [[...u.sort()].map(String), [...u.sort((a, b) => b - a)].map(String)]`,
			`[["-1","0","0","1","Infinity","NaN"],["Infinity","1","0","0","-1","NaN"]]`},
		{`const b = new BigInt64Array([3n, -1n, 2n]); return [...b.sort((x, y) => (x < y ? -1 : 1))].map(String)`,
			`["-1","2","3"]`},
		{`try { new Uint8Array(2).sort(5) } catch (e) { return e.name }`,
			`"TypeError"`},
		{`try { Uint8Array.prototype.sort.call([2, 1], (a, b) => a - b) } catch (e) { return e.name }`,
			`"TypeError"`},
		{`const u = new Uint8Array([2, 1]); try { u.sort(() => { throw new Error("x") }) } catch (e) { return [e.message, [...u]] }`,
			`["x",[2,1]]`},
	} {
		if got := outcome(run(t, tc.body, `{}`)); got != tc.want {
			t.Errorf("%s\ngot  %s\nwant %s", tc.body, got, tc.want)
		}
	}
}

// TestSourcesOfPatterns holds what node shows of a regular expression.
func TestSourcesOfPatterns(t *testing.T) {
	for _, tc := range []struct{ body, want string }{
		{`return [new RegExp("[/]").source, new RegExp("/").source, new RegExp("\\/").source, new RegExp("[\\]/]/").source, new RegExp("").source, /[/]/.source, /\//.source, new RegExp(/[/]/).source, new RegExp(/[/]/, "d").source, RegExp("[[]/]").source, RegExp("[/]/[/]").source, RegExp("a/b\\/c").source]`,
			`["[/]","\\/","\\/","[\\]/]\\/","(?:)","[/]","\\/","[/]","[/]","[[]\\/]","[/]\\/[/]","a\\/b\\/c"]`},
		{`return [new RegExp("\n"), new RegExp("\\\n"), new RegExp("[\n]"), new RegExp("\u2028\u2029\r"), RegExp("\\\r"), RegExp("\n/"), RegExp("\\\n/"), RegExp("[\n]/"), RegExp("\u2028\u2029\r/"), RegExp("\\\u2028/")].map(r => [r.source, String(r)])`,
			`[["\\n","/\\n/"],["\\n","/\\n/"],["[\\n]","/[\\n]/"],["\\u2028\\u2029\\r","/\\u2028\\u2029\\r/"],["\\r","/\\r/"],["\\n\\/","/\\n\\//"],["\\n\\/","/\\n\\//"],["[\\n]\\/","/[\\n]\\//"],["\\u2028\\u2029\\r\\/","/\\u2028\\u2029\\r\\//"],["\\u2028\\/","/\\u2028\\//"]]`},
		{`return [new RegExp("[/]").test("/"), new RegExp("[\\]/]/").test("]/"), RegExp("\\\n/").test("\n/"), RegExp("\\\r").test("\r"), "a/b".split(RegExp("[/]")), "a/b".replace(RegExp("/"), "-")]`,
			`[true,true,true,true,["a","b"],"a-b"]`},
		{`return /[/]/.source`,
			`"[/]"`},
		{`return [/[/]/.source, /[a/b]c/.test("/c"), RegExp(/[/]/).source]`,
			`["[/]",true,"[/]"]`},
		{`return [/[^/]+/.source, /[^/]+/u.exec("a/b")[0]]`,
			`["[^/]+","a"]`},
		{`return [/[/]/d.source]`,
			`["[/]"]`},
		{"return `${/[/]\\/[a/]/g}` + \"\" + /[/]/",
			`"/[/]\\/[a/]/g/[/]/"`},
		{`const [a, b] = [/[/]/, /[\/]/]; return [a.source, b.source, String(a), String(b)]`,
			`["[/]","[\\/]","/[/]/","/[\\/]/"]`},
		{`return ["a/b".split(/[/]/), "a/b".replace(/[/x]/g, "-"), "a/b".match(/[^/]+/g), String(/x/), [..."a/b/c".matchAll(/([^/])/g)].map(m => m[1])]`,
			`[["a","b"],"a-b",["a","b"],"/x/",["a","b","c"]]`},
		{`return [/[/]/gi.flags, /[/]/gi.toString(), new RegExp(/[/]/gi, "y").source]`,
			`["gi","/[/]/gi","[/]"]`},
	} {
		if got := outcome(run(t, tc.body, `{}`)); got != tc.want {
			t.Errorf("%s\ngot  %s\nwant %s", tc.body, got, tc.want)
		}
	}
}

// TestLastMatchIsNotKept holds that a program which asks for what was matched
// last is refused, or fails where it asks.
func TestLastMatchIsNotKept(t *testing.T) {
	const message = " is not kept on this runtime; use the array that exec, match or matchAll gives"
	for _, tc := range []struct{ body, want string }{
		{`return RegExp.$1`, "JS_ERROR/SyntaxError: RegExp.$1" + message},
		{`return RegExp["$&"]`, "JS_ERROR/SyntaxError: RegExp.$&" + message},
		{`RegExp.input = "x"`, "JS_ERROR/SyntaxError: RegExp.input" + message},
		{`const R = RegExp; /(.)/.exec("a"); return R.$1`, "JS_ERROR/TypeError: RegExp.$1" + message},
		{`const k = "$" + 1; return RegExp[k]`, "JS_ERROR/TypeError: RegExp.$1" + message},
		{`return /x/.constructor.lastParen`, "JS_ERROR/TypeError: RegExp.lastParen" + message},
		{`const { leftContext } = RegExp`, "JS_ERROR/TypeError: RegExp.leftContext" + message},
		{`const RegExp = { $1: 5 }; return RegExp.$1`, `5`},
		{`return Object.keys(RegExp).length + "a".replace(/(a)/, "$1$1")`, `"0aa"`},
		{`return await 2 ** 2`, "JS_ERROR/SyntaxError: await in front of ** needs parentheses: write (await x) ** 2 or await (x ** 2)"},
		{`return [(await 2) ** 2, await (2 ** 2), (await (2)) /* ** */ ** 2, 2 ** await 3, (2 + await 1) ** 2]`, `[4,4,4,8,9]`},
	} {
		if got := outcome(run(t, tc.body, `{}`)); got != tc.want {
			t.Errorf("%s\ngot  %s\nwant %s", tc.body, got, tc.want)
		}
	}
}

// TestMemberOfNothing holds that the message for a member of null does not say
// that the value was undefined.
func TestMemberOfNothing(t *testing.T) {
	for _, body := range []string{`null.foo`, `const x = null; x.foo.bar`, `undefined.foo()`, `null["foo"]`, `const x = undefined; return x.foo`} {
		if got, want := outcome(run(t, body, `{}`)), "JS_ERROR/TypeError: Cannot read properties of undefined or null (reading 'foo')"; got != want {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
	}
}
