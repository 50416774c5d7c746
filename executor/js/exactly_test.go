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
		{`let o=[];for(let i=0;i<4000;i++)o=[o,1];try{JSON.stringify(o,null,10)}catch(e){return e.name}`, `"RangeError"`},
	})
}
