package js

import "testing"

// TestDeadJumpsAsInNode holds the answers of node for jumps that a constant
// test never reaches.
func TestDeadJumpsAsInNode(t *testing.T) {
	rows(t, []row{
		{`const L=x=>x;const f=function(){for(const i of [1,2]){if(5){L(1)}else{L(1);continue;if(2)return 1;}}};f();return 1`,
			`1`},
		{`const l=[];for(const i of [1,2,3]){if(true){l.push(i)}else{continue}l.push('e')}return l`,
			`[1,"e",2,"e",3,"e"]`},
		{`const l=[];a:for(let i=0;i<3;i++){for(const j of [1,2]){if(0){continue a}else if(1){l.push(j)}else break a;if("")break}}return l`,
			`[1,2,1,2,1,2]`},
		{`const l=[];for(const i of [1,2]){while(false){let q=1;break}for(let k=0;false;k++){const z=k;if(z)continue;break}l.push(i)}return l`,
			`[1,2]`},
		{`const l=[];for(const i of [1,2]){const k=i;if(true||i){l.push(k)}else{const m=()=>i;switch(k){case 1:break;default:continue}l.push(m)}}return l`,
			`[1,2]`},
		{`const l=[];for(const i in {a:1,b:2}){try{if(!1){l.push(i)}else{break}}finally{l.push('f')}}return l`,
			`["f"]`},
		{`const l=[];for(const i of [1,2]){if(1)if(2<1){continue}else{l.push(i);if(i==2)break}}return l`,
			`[1,2]`},
		{`let n=0;while(1){if(null){continue}n++;if(n>3)break}do{if(0){const x=n;break}n++}while(n<8);return n`,
			`8`},
	})
}
