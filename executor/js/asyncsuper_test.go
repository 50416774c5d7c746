package js

import "testing"

// TestSuperInAsyncGenerators holds the answers of node for super in methods
// that are async generators.
func TestSuperInAsyncGenerators(t *testing.T) {
	rows(t, []row{
		{`class B{async *h(){yield 1}}class C extends B{async *h(){yield* super.h()}} const l=[];for await(const x of new C().h())l.push(x);return l`,
			`[1]`},
		{`class B{get p(){return this.q}set p(v){this.q=v}m(a,b){return [this.q,a,b]}static s(){return this.name}}class C extends B{q=1;async *h(k){yield super.p;super.p=5;yield this.q;super.p+=2;yield super['p'];yield super.m(1,...[2]);yield super[k](3,4);const f=()=>super.m(7,8);yield f();super.p++;yield super.p;[super.p]=[9];yield this.q;yield super.none?.x}static async *t(){yield super.s()}async *#z(){yield super.p}async *[Symbol.asyncIterator](){yield* this.#z()}} const l=[];const c=new C;for await(const x of c.h('m'))l.push(x);for await(const x of C.t())l.push(x);for await(const x of c)l.push(x);return l`,
			`[1,5,7,[7,1,2],[7,3,4],[7,7,8],8,9,null,"C",9]`},
		{`class B{m(){return 4}}class C extends B{async *h(a=super.m()){try{super.none()}catch(e){yield e.name}yield a}} const l=[];for await(const x of new C().h())l.push(x);return l`,
			`["TypeError",4]`},
		{`const b={m(){return 'b'+this.n}};const o={__proto__:b,n:3,async *m(){yield super.m();const i={__proto__:{m(){return 'i'}},m(){return super.m()}};yield i.m()}};const l=[];for await(const x of o.m())l.push(x);return l`,
			`["b3","i"]`},
	})
}
