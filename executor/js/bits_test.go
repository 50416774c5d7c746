package js

import "testing"

// TestBitsAsInNode holds the answers of node for numbers of 2^63 and more where
// 32 bits are wanted.
func TestBitsAsInNode(t *testing.T) {
	rows(t, []row{
		{`return [1e20|0,1e20>>>0,~1e20,Math.imul(1e20,3),Math.clz32(1e20),(12345*6364136223846793005)>>>0]`,
			`[1661992960,1661992960,-1661992961,691011584,1,352321536]`},
		{`const b=1e20,c=-1e25,d=2**70+2**60;return [b|0,c|0,b&255,b&c,b^c,c>>>0,~c,b<<3,c>>3,c>>>3,1<<b,5>>c,5>>>b,d|0,Math.imul(b,c),Math.clz32(b),String.fromCharCode(1e20+65536*3).charCodeAt(0)]`,
			`[1661992960,-2147483648,0,0,-485490688,2147483648,2147483647,411041792,-268435456,268435456,1,5,5,0,0,1,0]`},
		{`const o={a:1e20,b:[3e20]};o.a|=0;let x=5e19;x^=1;let y=7e22;y>>>=1;let z=2e21;z<<=3;let w=-9e19;w>>=2;let v=1e30;v&=0xffff;return [o.a,x,y,z,w,v]`,
			`[1661992960,-1316487167,1879048192,-369098752,162922496,0]`},
		{`return ["1e20"|0,"12"|3,[1e20]|0,null|0,undefined|7,NaN|0,Infinity|0,-Infinity>>>0,-0|0,"abc"|1,({valueOf:()=>1e20})|0,true|2,~"1e21",~~1e19,~~-3.7,1e19|0]`,
			`[1661992960,15,1661992960,0,7,0,0,0,0,1,1661992960,3,559939583,-1981284352,-3,-1981284352]`},
		{`let s=42;const out=[];for(let i=0;i<5;i++){s=(s*6364136223846793005+1442695040888963407)>>>0;out.push(s)}return out`,
			`[2280554496,0,4150755584,0,4150755584]`},
		{`let h=0x811c9dc5;for(const c of 'hello world'){h^=c.charCodeAt(0);h=Math.imul(h,0x01000193)}return h>>>0`,
			`3582672807`},
		{`let h=5381;const s='the quick brown fox';for(let i=0;i<s.length;i++)h=(h*33+s.charCodeAt(i))|0;return h`,
			`-1290746600`},
		{`let h=1;for(let i=0;i<40;i++)h=h*31+7;return [h|0,h>>>0,h&0xff]`,
			`[0,0,0]`},
		{`let a=1;for(let i=0;i<70;i++)a+=a;let i=0;for(;i<9;i+=2);return [a|0,a>>>3,i|0]`,
			`[0,0,10]`},
		{`const f=(x)=>x|0;function g(x){x>>>=0;return x}const k=([x])=>x&-1;let [q]=[1e20];for(const e of [2e20]){q^=e}return [f(1e20),g(1e20),k([1e20]),q]`,
			`[1661992960,1661992960,1661992960,-1523580928]`},
		{`const x=2e20,y=10n**30n;return [x|0,String(y|1n),String(y>>90n),String(~y),x>>>0,String(BigInt.asIntN(64,y)),Math.imul(x,1)]`,
			`[-970981376,"1000000000000000000000000000001","807","-1000000000000000000000000000001",3323985920,"5076944270305263616",-970981376]`},
		{`const l=[];const o={valueOf(){l.push('o');return 1e20}};const r=o|0;const t=o<<o;return [r,t,l]`,
			`[1661992960,1661992960,["o","o","o"]]`},
		{`try{return Symbol()|0}catch(e){return e.name}`,
			`"TypeError"`},
		{`let n=1e21;return [n|0,(n,n)|0,(n||1)|0,(true?n:1)|0,Math.floor(n)|0,Math.abs(-n)|0,-n|0,+n|0,n%7|0,n/2|0,n-1|0,(n=2e21)|0]`,
			`[-559939584,-559939584,-559939584,-559939584,-559939584,-559939584,559939584,-559939584,6,-279969792,-559939584,-1119879168]`},
		{`const b=1n,o={x:"1e20",y:{valueOf:()=>1e20}},q=()=>o;o.x|=0;q().y^=1;return ["1e20"|0,({valueOf:()=>1e20})|0,[1e20]>>>0,~"1e21",String({valueOf:()=>5n}|b),String(Object(6n)&~b),"12"|3,o]`,
			`[1661992960,1661992960,1661992960,559939583,"5","6",15,{"x":1661992960,"y":1661992961}]`},
		{`const b=1n,l=[];for(const f of [()=>Symbol()|0,()=>"1"|b,()=>({valueOf(){throw new RangeError()}})|0,()=>Object(1n)|1])try{f()}catch(e){l.push(e.name)}return l`,
			`["TypeError","TypeError","RangeError","TypeError"]`},
		{`const f=Math=>[Math.imul(1e20,"a"),Math.clz32({a:1}),Math.floor(1)|0,Math.random()>>>0];return f({imul:(...a)=>a,clz32:a=>a,floor:()=>1e20,random:()=>1e20})`,
			`[[100000000000000000000,"a"],{"a":1},1661992960,1661992960]`},
		{`const String={fromCharCode:(...a)=>a},Date={now:()=>1e20};return [String.fromCharCode("b",1e20),Date.now()|0]`,
			`[["b",100000000000000000000],1661992960]`},
	})
}
