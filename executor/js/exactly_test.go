package js

import "testing"

// TestExactlyAsInNode holds answers of node for what the engine itself gets
// wrong without a word. Each kind was compared with node over thousands of
// random values.
func TestExactlyAsInNode(t *testing.T) {
	rows(t, []row{
		{`return [(-9.97).toPrecision(2),(-99.5).toExponential(0),(-999.6).toPrecision(3),(9.97).toPrecision(2),(2.5).toPrecision(1),(-2.5).toPrecision(1),(0.5).toExponential(0),(1.25).toPrecision(2),(1.35).toPrecision(2),(25).toExponential(0),(99.5).toPrecision(2),(-0).toPrecision(2),(-0).toExponential(1),(5e-324).toPrecision(3),(1e21).toPrecision(3),(0.000001).toPrecision(2),(1e-7).toPrecision(2),(123.456).toPrecision(4),(123.456).toExponential(),(-1e-10).toExponential(2)]`,
			`["-10","-1e+2","-1.00e+3","10","3","-3","5e-1","1.3","1.4","3e+1","1.0e+2","0.0","0.0e+0","4.94e-324","1.00e+21","0.0000010","1.0e-7","123.5","1.23456e+2","-1.00e-10"]`},
		{`return [(0.1).toPrecision(21),(1/3).toPrecision(30),(0.1).toExponential(25),(NaN).toPrecision(200),(Infinity).toExponential(-1),(1.5).toPrecision(),(1.5).toPrecision("3"),(1.5).toExponential(null),(1.5).toExponential(NaN),Object(2.55).toPrecision(2),(1.5).toPrecision.length,(1.5).toExponential.name]`,
			`["0.100000000000000005551","0.333333333333333314829616256247","1.0000000000000000555111512e-1","NaN","Infinity","1.5","1.50","2e+0","2e+0","2.5",1,"toExponential"]`},
		{`const t=f=>{try{return f()}catch(e){return e.name+": "+e.message}};return [t(()=>(1).toPrecision(0)),t(()=>(1).toPrecision(101)),t(()=>(1).toExponential(-1)),t(()=>(1).toExponential(Infinity)),t(()=>Number.prototype.toPrecision.call("1",1)).slice(0,9),t(()=>(1).toPrecision(Symbol())).slice(0,9)]`,
			`["RangeError: toPrecision() argument must be between 1 and 100","RangeError: toPrecision() argument must be between 1 and 100","RangeError: toExponential() argument must be between 0 and 100","RangeError: toExponential() argument must be between 0 and 100","TypeError","TypeError"]`},
		{`return [new Date(-999).setMilliseconds(669),new Date(-999).setUTCMilliseconds(-11),new Date(-1000).setMilliseconds(0),new Date(-1).setMilliseconds(1.9),new Date(1500).setMilliseconds(-501),new Date(NaN).setMilliseconds(1),new Date(0).setMilliseconds(),new Date(8.64e15).setMilliseconds(1),new Date(0).setMilliseconds(1e300),new Date(-1).setMilliseconds.length]`,
			`[-331,-1011,-1000,-999,499,null,null,null,null,1]`},
		{`const d=new Date(-8.64e15);return [d.setMilliseconds(0),d.setMilliseconds(-1),d.getTime()]`,
			`[-8640000000000000,null,null]`},
		{`return [JSON.stringify({a:{},b:{c:1}},null,2),JSON.stringify([[],[[]],{a:[]}],null,1),JSON.stringify({a:{x:undefined},m:new Map(),z:[1]},null,"--"),JSON.stringify({a:{c:1},b:[{}]},["b"],2),JSON.stringify('{"a":[]}',null,2),JSON.stringify({'[,':":{"},null,"\t")]`,
			`["{\n  \"a\": {},\n  \"b\": {\n    \"c\": 1\n  }\n}","[\n [],\n [\n  []\n ],\n {\n  \"a\": []\n }\n]","{\n--\"a\": {},\n--\"m\": {},\n--\"z\": [\n----1\n--]\n}","{\n  \"b\": [\n    {}\n  ]\n}","\"{\\\"a\\\":[]}\"","{\n\t\"[,\": \":{\"\n}"]`},
		{`const calls=[];const o={a:{toJSON(k){calls.push("json "+k);return {x:[]}}},b:"\\\""};const s=JSON.stringify(o,(k,v)=>{calls.push(k);return v},20);return [s,calls,JSON.stringify({a:1},null,"éééééééééééé"),JSON.stringify([1],null,new Number(1)),JSON.stringify([1],null,{}),JSON.stringify([1],null,Infinity).length,JSON.stringify(undefined,null,2)===undefined,JSON.stringify([1],null,"\ud800")==="[\n\ud8001\n]",JSON.stringify.length]`,
			`["{\n          \"a\": {\n                    \"x\": []\n          },\n          \"b\": \"\\\\\\\"\"\n}",["","json a","a","x","b"],"{\néééééééééé\"a\": 1\n}","[\n 1\n]","[1]",15,true,true,3]`},
		{`const {stringify}=JSON;const f=JSON["stringify"];return [stringify({a:{},b:[1]},null,1),f(...[{a:[],b:[1]},null,1])]`,
			`["{\n \"a\": {},\n \"b\": [\n  1\n ]\n}","{\n \"a\": [],\n \"b\": [\n  1\n ]\n}"]`},
		{`const f=new Float32Array([0,-0,1,NaN]);const d=new Float64Array([1,-0,0/0]);const g=new Float32Array([-0,0]);return [f.indexOf(-0),f.lastIndexOf(0),f.includes(-0),d.indexOf(0),d.includes(-0),d.includes(NaN),d.indexOf(NaN),g.indexOf(0),g.lastIndexOf(-0),g.indexOf(0,1),g.lastIndexOf(0,-2),g.indexOf(0,-1),g.lastIndexOf(0,undefined),f.lastIndexOf(0,-9),f.includes(0,2)]`,
			`[0,1,true,1,true,true,-1,0,1,1,0,1,0,-1,false]`},
		{`const b=new BigInt64Array([1n,-1n]);const u=new BigUint64Array([2n**64n-1n]);return [b.indexOf(-1n,"1"),b.includes(2n**64n-1n),u.includes(-1n),u.indexOf(2n**64n-1n),b.indexOf(1),b.lastIndexOf(1n),b.lastIndexOf.length,b.includes.name,[-0].includes(0),[-0,1].includes(-0),[0].includes(-0,-1),["0"].includes(0),[,].includes(0),[,].includes(undefined)]`,
			`[1,false,false,0,-1,0,1,"includes",true,true,true,false,false,true]`},
		{`let f=new Float64Array([1,2,3]);const r=f.indexOf(3,{valueOf(){structuredClone(f.buffer,{transfer:[f.buffer]});return 0}});let e;try{f.indexOf(3)}catch(x){e=x.name}return [r,e]`,
			`[-1,"TypeError"]`},
		{`const bad=[];for(let n=-311;n<=308;n++)if(Math.log10(Number("1e"+n))!==n)bad.push(n);for(let n=-1074;n<=1023;n++)if(Math.log2(2**n)!==n)bad.push("2^"+n);for(let n=1;n<200;n++)if(Math.cbrt(n*n*n)!==n)bad.push("cbrt"+n);return [bad,Math.floor(Math.log10(1e15)),Math.floor(Math.log10(1000)),Math.log10(0),Math.log2(-1),Object.is(Math.log10(1),0),Object.is(Math.cbrt(-0),-0),Math.log10.length,Math.log.name]`,
			`[[],15,3,null,null,true,true,1,"log"]`},
		{`return [Math.log(0.7),Math.log(1+2**-30),Math.log10(2),Math.log10(5e-324),Math.log2(3),Math.log2(0.1),Math.cbrt(0.5),Math.cbrt(1e-322),Math.exp(1),Math.exp(-1.5),Math.exp(700.3),Math.exp(-745),Math.exp(710),Math.sinh(0.3),Math.sinh(-30),Math.cosh(0.3),Math.cosh(710.4),Math.tanh(0.3),Math.tanh(-3),Math.log1p(1e-10),Math.expm1(0.1),Math.log("10"),Math.log(null)]`,
			`[-0.35667494393873245,9.313225741817976e-10,0.3010299956639812,-323.3062153431158,1.584962500721156,-3.321928094887362,0.7937005259840998,4.623152480188701e-108,2.718281828459045,0.22313016014842982,1.3690700720098904e+304,5e-324,null,0.3045202934471426,-5343237290762.231,1.0453385141288605,1.6663642832806494e+308,0.2913126124515909,-0.9950547536867305,9.999999999500001e-11,0.10517091807564763,2.302585092994046,null]`},
		{`const m='xyz'.match(/(?<a>x)/);const r=[];for(const k in m)r.push(k);const {0:z,...rest}='xyz'.match(/y/);let more;({index:more,...more}=/z/.exec('xyz'));return [r,Object.keys({.../x/.exec('x')}),Object.keys(rest),Object.keys(more),Object.keys(m),Object.entries(/(x)/d.exec('x')).map(e=>e[0]),[...'xx'.matchAll(/x/g)].map(m=>Object.keys(m).join()),Reflect.ownKeys(m).join(),Object.keys(Object.assign({},/x/.exec('x'))),Object.keys(structuredClone(/x/.exec('x')))]`,
			`[["0","1","index","input","groups"],["0","index","input","groups"],["index","input","groups"],["0","input","groups"],["0","1","index","input","groups"],["0","1","index","input","groups","indices"],["0,index,input,groups","0,index,input,groups"],"0,1,length,index,input,groups",["0","index","input","groups"],["0","index","input","groups"]]`},
		{`const m=Object.freeze('x'.match(/x/));const n='x'.match(/x/);n.more=1;Object.keys(n);const o='x'.match(/x/);Object.preventExtensions(o);const p=[1];p.index=1;p.input='';return [Object.keys(n),Object.keys(o).length,Object.keys(m).length,n.input,n.index,n.groups===undefined,n.length,Object.keys(p),JSON.stringify({.../(?<q>x)/.exec('ax')}),Object.keys(null??{}).length,{...null,...undefined,...1,..."ab"}]`,
			`[["0","index","input","groups","more"],4,4,"x",0,true,1,["0","index","input"],"{\"0\":\"x\",\"1\":\"x\",\"index\":1,\"input\":\"ax\",\"groups\":{\"q\":\"x\"}}",0,{"0":"a","1":"b"}]`},
		{`const k=(a,b)=>a+b; const out=[];out.push(JSON['par'+'se']('"\\ud800"')==="\ud800", JSON['string'+'ify']({a:{},b:[1]},null,1), (-9.97)['toPre'+'cision'](2), new Date(-5)['setMilli'+'seconds'](1), Math[k('log','10')](1e15), new Float64Array([-0])[k('index','Of')](0), [-0][k('inc','ludes')](0), (1234.5)[k('toLocale','String')]("de"), "b"[k('locale','Compare')]("a","de"), Object[k('ke','ys')](/x/.exec('x')), Reflect.get(Math,k('log','2'))(8), (-0.5)[k('to','String')](2), Number[k('parse','Int')]("10000000000000000000000000"), Date[k('par','se')]("2020-02-30"), new Date(8e15)[k('toISO','String')]());const {[k('c','brt')]: cb}=Math; out.push(cb(0.5));out.push(Object.getOwnPropertyDescriptors(Math)[k('log','10')].value(1e15), Number.prototype[k('toPre','cision')].call(-9.97,2));return out;`,
			`[true,"{\n \"a\": {},\n \"b\": [\n  1\n ]\n}","-10",-999,15,0,true,"1.234,5",1,["0","index","input","groups"],3,"-0.1",1e+25,1583020800000,"+255479-11-28T14:13:20.000Z",0.7937005259840998,15,"-10"]`},
		{`let o=[];for(let i=0;i<4000;i++)o=[o,1];try{JSON.stringify(o,null,10)}catch(e){return e.name}`, `"RangeError"`},
	})
}
