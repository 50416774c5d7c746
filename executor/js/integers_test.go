package js

import "testing"

// TestIntegersStored holds what node stores of large numbers in buffers of
// integers.
func TestIntegersStored(t *testing.T) {
	rows(t, []row{
		{`const a=new Uint32Array(3),b=new Int8Array(2);let c=new Uint16Array(2);a[0]=1e20;a[1]=12345*6364136223846793005;for(let i=0;i<2;i++){b[i]=3e20+i;c[i]=-7e22}a[2]=2**70+2**60;return [[...a],[...b],[...c]]`,
			`[[1661992960,352321536,0],[0,0],[0,0]]`},
		{`const a=new Uint32Array(2);const r=(a[0]=1e20);a[1]="1e20";return [r,a[0]===r,a[1]].slice(0,1)`,
			`[100000000000000000000]`},
		{`const b=new ArrayBuffer(16),d=new DataView(b);d.setUint32(0,1e20);d.setInt32(4,-3e20,true);d.setUint16(8,7e22*3);d.setInt16(10,5e19);d.setUint8(12,2**64+2**12*4099);d.setInt8(13,12);return [...new Uint8Array(b)]`,
			`[99,16,0,0,0,0,208,214,0,0,0,0,0,12,0,0]`},
		{`const a=new Uint8ClampedArray(1),f=new Float64Array(1);a[0]=255;f[0]=1e20;return [a[0],f[0]]`,
			`[255,100000000000000000000]`},
		{`const d=new DataView(new ArrayBuffer(8));const o=[0,1e20];d.setUint32(...o);d.setUint32(4,Infinity);d.setUint8(5,NaN);return d.getUint8(5)`,
			`0`},
		{`const w={setUint8(n,v){return [n,v]}};return [w.setUint8(1,"x"),w.setUint8(2,undefined),w.setUint8(3,{a:1}),w.setUint8(4,-5.5)].map(String)`,
			`["1,x","2,","3,[object Object]","4,-5.5"]`},
		{`let a=new Uint32Array(1);if(a)a=[0];a[0]=1e20;return a`,
			`[100000000000000000000]`},
		{`class W{#n=new DataView(new ArrayBuffer(4));setUint32(o,x){this.x=x;this.#n.setUint8(o,1e20);return this}}const w=new W;return [w.setUint32(0,1e20).x,{setInt8:(o,x)=>x}.setInt8(0,-3e20)]`,
			`[100000000000000000000,-300000000000000000000]`},
		{`const a=new Uint32Array(1);function f(a){a[0]=1e20;return a[0]}const g=({a})=>(a[0]=1e20,a[0]);{const a=[];a[0]=1e20;if(a[0]!==1e20)return "inner"}for(const a of [[1]]){a[0]=1e20;if(a[0]!==1e20)return "loop"}return [f([0]),g({a:[0]})]`,
			`[100000000000000000000,100000000000000000000]`},
		{`const u=new Uint32Array(2);u["total"]=1e20;u["1"]=1e20;u["2 "]=3e20;return [u.total,u[1],u["2 "]]`,
			`[100000000000000000000,1661992960,300000000000000000000]`},
		{`class Uint32Array{}const u=new Uint32Array(2);u[0]=1e20;return u[0]`,
			`100000000000000000000`},
		{`function f(){let Uint8Array=Array;const u=new Uint8Array();u[0]=1e20;return u[0]}const g=(Int8Array)=>{const v=new Int8Array();v[0]=1e20;return v[0]};const h=({Int16Array})=>{const w=new Int16Array();w[0]=1e20;return w[0]};return [f(),g(Array),h({Int16Array:Array})]`,
			`[100000000000000000000,100000000000000000000,100000000000000000000]`},
		{`Uint16Array=Array;const u=new Uint16Array();u[0]=1e20;return u[0]`,
			`100000000000000000000`},
		{`if(typeof Uint32Array!=="function")return 0;const u=new Uint32Array(3);u[0]="1e20";u[1]={valueOf:()=>1e20};u[2]=[3e20];return [...u]`,
			`[1661992960,1661992960,691011584]`},
		{`const d=new DataView(new ArrayBuffer(8));d.setUint32(0,"1e20");d.setUint32(4,{valueOf:()=>1e20});try{d.setInt8(0,2n)}catch(e){return [e.name,d.getUint32(0),d.getUint32(4)]}`,
			`["TypeError",1661992960,1661992960]`},
	})
}
