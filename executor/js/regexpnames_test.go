package js

import "testing"

// TestNamesOfGroups holds what node gives for named groups in texts beyond ASCII.
func TestNamesOfGroups(t *testing.T) {
	sameAsNode(t, [][2]string{
		{`return 'José García'.replace(/(?<first>\p{L}+) (?<last>\p{L}+)/u,'$<last>, $<first>')`,
			`"García, José"`},
		{`return 'é: 12'.match(/(?<v>\d+)/iu).groups.v`,
			`"12"`},
		{`return [...'é1 é22'.matchAll(/(?<v>\d+)/gu)].map(m=>m.groups?.v)`,
			`["1","22"]`},
		{`return [...'é1 é22'.matchAll(/(?<v>\d+)/gv)].map(m=>m.groups?.v)`,
			`["1","22"]`},
		{`return 'é12'.match(/(?<v>\d+)/du).indices.groups`,
			`{"v":[1,3]}`},
		{`return 'é 1-2-3'.match(/(?<y>\d)-(\d)-(?<m>\d)/u)`,
			`["1-2-3","1","2","3"]`},
		{`return {...'é 1-2-3'.match(/(?<y>\d)-(\d)-(?<m>\d)|(?<z>q)/u).groups}`,
			`{"y":"1","m":"3"}`},
		{`return Object.keys('é 1-2-3'.match(/(?<y>\d)-(\d)-(?<m>\d)(?=)/u).groups)`,
			`["y","m"]`},
		{`return 'é 1-2-3'.replace(/(?<y>\d)-(\d)-(?<m>\d)/u,(...a)=>JSON.stringify(a))`,
			`"é [\"1-2-3\",\"1\",\"2\",\"3\",2,\"é 1-2-3\",{\"y\":\"1\",\"m\":\"3\"}]"`},
		{`return 'é 1-2-3'.replace(/(?<y>\d)-(\d)-(?<m>\d)/gu,'$3$2$1$<y>')`,
			`"é 3211"`},
		{`return new RegExp('(?<v>\\d+)','u').exec('é12').groups.v`,
			`"12"`},
		{`return [/(?<v>\d+)/u.source, String(/(?<v>\d+)|x/giu), new RegExp('(?<v>\\d+)','u').source]`,
			`["(?<v>\\d+)","/(?<v>\\d+)|x/giu","(?<v>\\d+)"]`},
		{`return 'éab cd'.match(/\b(?<w>\w+)\b/u)`,
			`["ab","ab"]`},
		{`return 'é ab'.split(/(?<w> )/u)`,
			`["é"," ","ab"]`},
		{`return 'é ab'.search(/(?<w>a)/u)`,
			`2`},
		{`const m=/(?<w>a)/u.exec('é ab'); return [m.index, m.input, m.length, Object.getPrototypeOf(m.groups)===null]`,
			`[2,"é ab",2,true]`},
		{`const r=/(?<w>a)/yu; r.lastIndex=1; return [r.exec('éab').groups.w, r.lastIndex]`,
			`["a",2]`},
		{`return '😀 x1'.replace(/(?<l>\w)(?<d>\d)/u,'$<d>$<l>')`,
			`"😀 1x"`},
		{`const {groups:{a,b}}=/(?<a>.)(?<b>.)?/u.exec('é'); return [a,b===undefined]`,
			`["é",true]`},
	})
}

// TestEmptySearch holds what node gives for an empty search in such texts.
func TestEmptySearch(t *testing.T) {
	sameAsNode(t, [][2]string{
		{`return 'aé'.replaceAll('','-')`,
			`"-a-é-"`},
		{`return 'aé'.replaceAll([],'-')`,
			`"-a-é-"`},
		{"return 'aé'.replaceAll('',(m,i,s)=>`[${m}${i}${s}]`)",
			`"[0aé]a[1aé]é[2aé]"`},
		{"return 'aé'.replaceAll('',\"<$&$$$`$'$1$<a>$>\")",
			`"<$aé$1$<a>$>a<$aé$1$<a>$>é<$aé$1$<a>$>"`},
		{`return ['aé'.indexOf('',99),'aé'.indexOf(''),'aé'.lastIndexOf(''),'aé'.lastIndexOf('',1),'aé'.lastIndexOf('',-5),'aé'.includes('',9),'aé'.startsWith('',9),'aé'.endsWith('',0),'aé'.split(''),'aé'.replace('','-'),'aé'.padEnd(5,''),'é'.padStart(3,'')]`,
			`[2,0,2,1,0,true,true,true,["a","é"],"-aé","aé","é"]`},
		{`return [''.replaceAll('','-'),'é'.replaceAll('é',''),'é'.concat('').replaceAll('','')]`,
			`["-","","é"]`},
		{`return ['é'.split('',1),'é'.split('é',1),'ééé'.split('é',2),'é'.split('x',0),''.split('é'),'é'.split('é')]`,
			`[["é"],[""],["",""],[],[""],["",""]]`},
		{`return ['éa'.at(-1),'éa'.substr(-1),'éa'.lastIndexOf('a',5),'ééé'.lastIndexOf('éé'),'ééé'.indexOf('éé',1),'é'.repeat(0)]`,
			`["a","a",1,1,1,""]`},
		{`return [...'é1'.replaceAll('','-')].length + '😀'.replaceAll('','-').charCodeAt(1) + '😀'.replaceAll('','-').length`,
			`55367`},
		{`try { ''.replaceAll('é', Symbol()) } catch(e) { return e.name }`,
			`"TypeError"`},
		{`try { 'é'.replaceAll('', Symbol()) } catch(e) { return e.name }`,
			`"TypeError"`},
		{`try { String.prototype.replaceAll.call(null,'','') } catch(e) { return e.name }`,
			`"TypeError"`},
	})
}

// TestEmptySearchOfValues is the same for what is no text.
func TestEmptySearchOfValues(t *testing.T) {
	sameAsNode(t, [][2]string{
		{`return [String.prototype.replaceAll.call(['é'],'','-'), 'é'.replaceAll({[Symbol.replace](s,r){return s+r}},'q'), 'é'.replaceAll({toString(){return ''}},'-'), 'é undefined'.replaceAll(undefined,1), 'é'.replaceAll('',undefined), 'é'.replaceAll('',()=>null), String.prototype.replaceAll.length]`,
			`["-é-","éq","-é-","é 1","undefinedéundefined","nullénull",2]`},
	})
}

// TestFlagsOfSets holds what node gives for methods of text where a program has the flags d and v, or cases written out.
func TestFlagsOfSets(t *testing.T) {
	sameAsNode(t, [][2]string{
		{`new RegExp('a','v');return ['xSy'.split(/ſ/i),'aſb'.split(/\w/i)]`,
			`[["xSy"],["","ſ",""]]`},
		{`return 'a,b'.split(/,/d)`,
			`["a","b"]`},
		{`return 'x1b'.split(/[\d--[5]]/v)`,
			`["x","b"]`},
		{`return [...'xab'.matchAll(/[a--b]/gv)].map(m=>[...m,m.index])`,
			`[["a",1]]`},
		{`return [/k/di.flags, /k/dgi.flags, /k/vi.flags, /[a]/gv.flags]`,
			`["di","dgi","iv","gv"]`},
		{`return [...'xKy'.matchAll(/k/dgi)].map(m=>[m[0],m.index,m.indices])`,
			`[["K",1,[[1,2]]]]`},
		{`return ['a1b2'.replace(/\d/d,'x'),'a1b2'.replace(/\d/dg,'x'),'a1b2'.match(/\d/dg),'a1b2'.match(/(\d)/d).indices,'a1'.search(/\d/v),'xy'.replace(/(?:)/gv,'-'),'😀a'.replace(/(?:)/gv,'-'),'😀a'.match(/(?:)/gv),'😀a'.split(/(?:)/v)]`,
			`["axb2","axbx",["1","2"],[[1,2],[1,2]],1,"-x-y-","-😀-a-",["","",""],["😀","a"]]`},
		{`class X extends RegExp{} return ['a,b'.split(new X(',','d')),[...'a,b'.matchAll(new X(',','gv'))].length]`,
			`[["a","b"],1]`},
		{`const r=/ſ/i; r.exec=function(s){return RegExp.prototype.exec.call(this,s)}; return ['xSy'.split(r)]`,
			`[["xSy"]]`},
		{`const r=/ſ/i; r.exec=function(s){return null}; return ['xSy'.split(r)]`,
			`[["xSy"]]`},
		{`const e=RegExp.prototype.exec; RegExp.prototype.exec=function(s){return e.call(this,s)}; try{return ['xSy'.split(/ſ/i),'xſy'.split(/ſ/i),'a b'.split(/\b/)]}finally{RegExp.prototype.exec=e}`,
			`[["xSy"],["x","y"],["a"," ","b"]]`},
		{`/x/d.test('x'); return ['foo bar'.split(/\b/),'fooé bar'.split(/\b/d),'a1b2c'.split(/(\d)/d,2),'a1b2c'.split(/\d/gy),'ab'.split(/(?:)/d),''.split(/x/d),''.split(/(?:)/d)]`,
			`[["foo"," ","bar"],["foo","é ","bar"],["a","1"],["a","b","c"],["a","b"],[""],[]]`},
		{`/x/d.test('x'); const r=/a/gy; r.lastIndex=1; return ['ba'.replace(r,'x'),r.lastIndex,'aab'.replace(/a/gy,'x'),'xa'.match(/a/y)]`,
			`["ba",0,"xxb",null]`},
		{`/x/d.test('x'); return ['Kk'.replace(/k/gi,'x'),'Kk'.match(/\u212a/gi),'aKb'.split(/k/i),[...'aKbk'.matchAll(/k/gi)].length,/k/i.flags,/k/i.ignoreCase]`,
			`["xx",null,["a","b"],2,"i",true]`},
		{`/x/v.test('x'); let n=0; return ['abc'.replace(/(?<x>b)/,(...a)=>{n++;return JSON.stringify(a)}),n]`,
			`["a[\"b\",\"b\",1,\"abc\",{\"x\":\"b\"}]c",1]`},
		{`return 'abcabc'.replace(/(?<a>b)(c)/dg,'[$<a>$2$1]')`,
			`"a[bcb]a[bcb]"`},
		{`const r=new RegExp('a','gd'); r.lastIndex=1; return [...'aba'.matchAll(r)].map(m=>m.index).concat(r.lastIndex)`,
			`[2,1]`},
		{`const it='aba'.matchAll(/a/gv); return [it[Symbol.toStringTag],typeof it.next,Object.prototype.toString.call(it)]`,
			`["RegExp String Iterator","function","[object RegExp String Iterator]"]`},
		{`return ['Kk'.match(/\u212a/gi),'Kk'.replace(/\u212a/gi,'x'),'xSy'.split(/ſ/i),'Sk'.replace(/ſ?/gi,'-'),'xSy'.split(/ſ?/i),/ſ/i.ignoreCase]`,
			`[null,"Kk",["xSy"],"-S-k-",["x","S","y"],true]`},
		{`return [/ſ/i.ignoreCase, /ſ/i.flags, [...'sSſ'.matchAll(/ſ/gi)].length, 'SſK'.match(/ſ?/gi)]`,
			`[true,"i",1,["","ſ","",""]]`},
		{`const r=/ſ/i; r.exec=(s)=>null; return ['xSy'.split(r), /ſ/i.ignoreCase]`,
			`[["xSy"],true]`},
		{`return [...'😀a'.matchAll(/(?:)/gv)].map(m=>m.index)`,
			`[0,2,3]`},
	})
}

func sameAsNode(t *testing.T, rows [][2]string) {
	t.Helper()
	for _, row := range rows {
		if got := outcome(run(t, row[0], `{}`)); got != row[1] {
			t.Errorf("%s\ngot  %s\nwant %s", row[0], got, row[1])
		}
	}
}
