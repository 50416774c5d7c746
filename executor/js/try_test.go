package js

import "testing"

// TestTryAsInNode holds the answers of node for statements that catch and have
// something to do at the end.
func TestTryAsInNode(t *testing.T) {
	rows(t, []row{
		{`const l=[];function f(){try{l.push('work')}catch(e){l.push('rollback')}finally{l.push('f');throw 9}}try{f()}catch(e){l.push(e)}return l`,
			`["work","f",9]`},
		{`const l=[];function f(){try{l.push('work')}catch(e){l.push('rollback')}finally{l.push('f');null.x}}try{f()}catch(e){l.push(e.name)}return l`,
			`["work","f","TypeError"]`},
		{`const l=[];function f(){try{l.push('work')}catch{l.push('rollback')}finally{l.push('f');JSON.parse('{bad')}}try{f()}catch(e){l.push(e.name)}return l`,
			`["work","f","SyntaxError"]`},
		{`const l=[];async function f(){try{l.push('work')}catch(e){l.push('rollback')}finally{l.push('f');await Promise.reject(9)}}try{await f()}catch(e){l.push(e)}return l`,
			`["work","f",9]`},
		{`const l=[];async function f(){try{await 0;l.push('work')}catch(e){l.push('rollback')}finally{l.push('f');await Promise.reject(9)}}try{await f()}catch(e){l.push(e)}return l`,
			`["work","f",9]`},
		{`const l=[];function* f(){try{yield 1;l.push('work')}catch(e){l.push('rollback'+e)}finally{l.push('f');yield 2;throw 9}}try{l.push(...f())}catch(e){l.push(e)}return l`,
			`["work","f",9]`},
		{`const l=[];function* f(){try{yield 1}catch(e){l.push('rollback'+e)}finally{l.push('f');yield 2;throw 9}}const g=f();l.push(g.next());l.push(g.return(7));try{g.next()}catch(e){l.push(e)}return l`,
			`[{"value":1,"done":false},"f",{"value":2,"done":false},9]`},
		{`const l=[];function* f(){try{yield 1}catch(e){l.push('c'+e);yield 3}finally{l.push('f');yield 2}}const g=f();l.push(g.next());l.push(g.throw(7));l.push(g.return(5));l.push(g.next(),g.next());return l`,
			`[{"value":1,"done":false},"c7",{"value":3,"done":false},"f",{"value":2,"done":false},{"value":5,"done":true},{"done":true}]`},
		{`const l=[];async function* f(){try{yield 1}catch(e){l.push('c'+e)}finally{l.push('f');throw 9}}try{for await(const x of f())l.push(x)}catch(e){l.push(e)}return l`,
			`[1,"f",9]`},
		{`const l=[];const it={[Symbol.asyncIterator](){return{async next(){return{value:1,done:false}},async return(){l.push('r');throw 'bad'}}}};try{for await(const x of it)break}catch(e){l.push(e)}return l`,
			`["r","bad"]`},
		{`const l=[];a:for(const x of [1,2,3])try{if(x==2)continue a;l.push(x)}catch(e){l.push('c')}finally{l.push('f'+x);if(x==3)break a}return l`,
			`[1,"f1","f2",3,"f3"]`},
		{`const l=[];for(const x of [1,2,3])try{if(x==1)throw x;if(x==2)continue;l.push(x)}catch(e){l.push('c'+e);continue}finally{l.push('f'+x)}return l`,
			`["c1","f1","f2",3,"f3"]`},
		{`function f(){try{return 1}catch(e){return 2}finally{return 3}}function g(){try{throw 1}catch(e){return 2}finally{}}function h(){try{return 1}catch(e){return 2}finally{}}function i(){try{throw 1}catch(e){throw 5}finally{return 4}}return [f(),g(),h(),i()]`,
			`[3,2,1,4]`},
		{`const l=[];function f(){try{throw 1}catch(e){l.push('c'+e);throw 2}finally{l.push('f');throw 3}}try{f()}catch(e){l.push(e)}return l`,
			`["c1","f",3]`},
		{`const l=[];try{try{l.push(1)}catch(e){l.push('in')}finally{l.push('f');throw 2}}catch(e){l.push('out'+e)}finally{l.push('end')}return l`,
			`[1,"f","out2","end"]`},
		{`let n=0;function f(){try{return n}catch(e){}finally{n=5}}return [f(),n]`,
			`[0,5]`},
		{`var r=[];try{let a=1;var b=2;function q(){return a}r.push(q())}catch({message:m}){r.push(m)}finally{let a=3;r.push(a,b)}try{throw new Error('t')}catch({message:m}){var m2=m}finally{r.push(m2)}return r`,
			`[1,3,2,"t"]`},
		{`async function f(){try{return await Promise.resolve(1)}catch(e){return 2}finally{await 0}}async function g(){try{return await Promise.reject(1)}catch(e){return 2+e}finally{await 0;try{throw 1}catch{}finally{}}}return [await f(),await g()]`,
			`[1,3]`},
	})
}
