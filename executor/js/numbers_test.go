package js

import "testing"

// TestNumbersAsInNode holds the answers of node for texts of numbers and for
// what is looked for among narrow ones.
func TestNumbersAsInNode(t *testing.T) {
	rows(t, []row{
		{`return [(-0.5).toString(2),(0.5).toString(2),(-0.25).toString(16),(-5.5).toString(2),(-0).toString(2),(-0.1).toString(10),(-0.5).toString(),Object(-0.5).toString(2),(255).toString(16),NaN.toString(2),(-1).toString(36),Number.prototype.toString.length,(5n).toString(2),[-0.5].toString(),(-0.5).toString(undefined)]`,
			`["-0.1","0.1","-0.4","-101.1","0","-0.1","-0.5","-0.1","ff","NaN","-1",1,"101","-0.5","-0.5"]`},
		{`try{(1).toString(1)}catch(e){return e.name}`,
			`"RangeError"`},
		{`try{Number.prototype.toString.call('x',2)}catch(e){return e.name}`,
			`"TypeError"`},
		{`return [parseInt("10000000000000000000000000"),parseInt("-10000000000000000000000000"),parseInt(" 123456789012345678901234567890abc"),parseInt("0x10"),parseInt("0xffffffffffffffffff"),parseInt("12"),parseInt("9007199254740993"),parseInt("9007199254740993",10),parseInt("ff",16),parseInt("99999999999999999999",0),parseInt("zz",36),parseInt("1e30"),parseInt(1e21),parseInt({toString(){return "10000000000000000000000000"}}),parseInt(null),parseInt(),parseInt("+9007199254740995"),String(parseInt("9".repeat(400))),Number.parseInt===parseInt,parseInt.length,parseInt.name,["1","2","3"].map(parseInt)]`,
			`[1e+25,-1e+25,1.2345678901234568e+29,16,4.722366482869645e+21,12,9007199254740992,9007199254740992,255,100000000000000000000,1295,1,1,1e+25,null,null,9007199254740996,"Infinity",true,2,"parseInt",[1,null,null]]`},
		{`try{parseInt(Symbol())}catch(e){return e.name}`,
			`"TypeError"`},
		{`const f=new Float32Array([0.1,0.5,NaN,16777216]);return [f.includes(0.1),f.indexOf(0.1),f.lastIndexOf(0.1),f.includes(0.5),f.indexOf(0.5),f.lastIndexOf(0.5),f.includes(NaN),f.indexOf(NaN),f.includes(f[0]),f.indexOf(f[0]),f.includes(16777217),f.indexOf(16777217),new Float64Array([0.1]).includes(0.1),new Uint8Array([1]).indexOf(1),f.includes("0.5"),f.indexOf(undefined),f.includes(-0),f.includes(0.5,2),f.lastIndexOf(0.1,-1),f.includes(1e300)]`,
			`[false,-1,-1,true,1,1,true,-1,true,0,false,-1,true,0,false,-1,false,false,-1,false]`},
		{`return [0.1].includes(0.1)&&[0.1].indexOf(0.1)===0&&'aFloat32Array'.includes('Float')`,
			`true`},
		{`return ((a,[{d=1}={}]=[])=>d)(1)`,
			`JS_ERROR/SyntaxError: Invalid destructuring binding target; a list with defaults in it that has a default itself ([a = 1] = []) is not supported in a pattern: take it apart in a statement of its own`},
		{`return (function (a, [{ d = 1 } = {}] = []) { return d })(1)`, `1`},
	})
}
