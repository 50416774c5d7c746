package js

import "testing"

// TestCompareAsInNode holds answers of node for localeCompare, and that what
// cannot be compared in the same way is refused.
func TestCompareAsInNode(t *testing.T) {
	rows(t, []row{
		{`const c=(l,o)=>["b10","b2","b02","a","B1","b","b0","z9","b1a","100000000000000000000","99999999999999999999","ä","ø","å"].sort((a,b)=>a.localeCompare(b,l,o)).join();return [c("en"),c("de",{numeric:true}),c("sv",{numeric:true}),c("da"),c("nb",{numeric:true}),c(["fr-CA"]),c("es-MX",{sensitivity:"base",numeric:true}),c(undefined,{numeric:true}),c("pt-BR"),c("it"),c("nl")]`,
			`["100000000000000000000,99999999999999999999,a,å,ä,b,b0,b02,B1,b10,b1a,b2,ø,z9","99999999999999999999,100000000000000000000,a,å,ä,b,b0,B1,b1a,b2,b02,b10,ø,z9","99999999999999999999,100000000000000000000,a,b,b0,B1,b1a,b2,b02,b10,z9,å,ä,ø","100000000000000000000,99999999999999999999,a,b,b0,b02,B1,b10,b1a,b2,z9,ä,ø,å","99999999999999999999,100000000000000000000,a,b,b0,B1,b1a,b2,b02,b10,z9,ä,ø,å","100000000000000000000,99999999999999999999,a,å,ä,b,b0,b02,B1,b10,b1a,b2,ø,z9","99999999999999999999,100000000000000000000,a,ä,å,b,b0,B1,b1a,b2,b02,b10,ø,z9","99999999999999999999,100000000000000000000,a,å,ä,b,b0,B1,b1a,b2,b02,b10,ø,z9","100000000000000000000,99999999999999999999,a,å,ä,b,b0,b02,B1,b10,b1a,b2,ø,z9","100000000000000000000,99999999999999999999,a,å,ä,b,b0,b02,B1,b10,b1a,b2,ø,z9","100000000000000000000,99999999999999999999,a,å,ä,b,b0,b02,B1,b10,b1a,b2,ø,z9"]`},
		{`return ["09".localeCompare("9","en",{numeric:true}),"0".localeCompare("00","en",{numeric:true}),"0a".localeCompare("0","en",{numeric:true}),"19".localeCompare("02","en",{numeric:true}),"1.10".localeCompare("1.9","en",{numeric:true}),"1234567890".localeCompare("999999999","en",{numeric:true}),"а".localeCompare("я","ru"),"я".localeCompare("а1","ru"),"가".localeCompare("나","ko"),"あ".localeCompare("い","ja"),"á".localeCompare("a","en",{sensitivity:"base"}),"a".localeCompare("A","en",{sensitivity:"case"})]`,
			`[0,0,1,1,1,1,-1,1,-1,-1,0,-1]`},
		{`const t=(a,b,l,o)=>{try{return a.localeCompare(b,l,o)}catch(e){return e.name}};return [t("中","人","zh"),t("a","b","zh-TW"),t("東","京","ja"),t("韓","國","ko"),t("가","a","ko"),t("я","z","ru"),t("א","a","he"),t("ก","ข","th"),t("a","b","sr-Latn"),t("a","b","de-u-co-phonebk"),t("²","1","en",{numeric:true}),t("①","1","en",{numeric:true}),t("½","1","en",{numeric:true}),t("٣","1","en",{numeric:true}),t("é","e","en",{sensitivity:"case"}),t("か","が","en",{sensitivity:"case"}),t("٣","३","en"),t("œ","o","da"),t("Ω","ω","nb"),t("ガ","カー","ja"),t("a","b","xx"),t("中","人","en")]`,
			`["RangeError","RangeError","RangeError","RangeError","RangeError","RangeError","RangeError","RangeError","RangeError","RangeError","RangeError","RangeError","RangeError","RangeError","RangeError","RangeError","RangeError","RangeError","RangeError","RangeError","RangeError",-1]`},
	})
}
