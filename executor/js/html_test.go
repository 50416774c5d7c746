package js

import (
	"fmt"
	"strings"
	"testing"

	"github.com/andybalholm/cascadia"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"github.com/toolwarrant/toolwarrant/executor/worker"
)

func TestHTMLMethods(t *testing.T) {
	const page = `<div id=a class="x Y"><p n=1>1</p>text<p n=2 class=x>2<i>i</i></p><ul><li>a</li><li>b</li></ul></div>`
	for _, tc := range []struct{ body, want string }{
		{`return [d.select("p").eq(1).text(), d.select("p").eq(9).size(), d.select("p").first().next().text(), d.select("p").last().prev().attr("n"), d.select("ul").first().next()]`, `["2i",0,"2i","1",null]`},
		{`return [d.select("i").first().parents().size(), d.select("i").first().closest("div").id(), d.select("i").first().closest("ul"), d.select("p").first().siblings().size()]`, `[4,"a",null,2]`},
		{`return [d.getElementById("a").is("div.y"), d.getElementById("none"), d.getElementsByTag("LI").size(), d.getElementsByClass("X").size(), d.getElementsByAttribute("n").eachAttr("n")]`, `[false,null,2,2,["1","2"]]`},
		{`return [d.select("p").not(".x").size(), d.select("p").is(".x"), d.select("p").hasClass("x"), d.select("p").map(e => e.attr("n")), d.select("p").filter(e => e.hasClass("x")).size()]`, `[1,true,true,["1","2"],1]`},
		{`const e = d.getElementById("a"); return [e.child(1).text(), e.childrenSize(), e.firstElementChild().equals(d.select("p").first()), e.lastElementChild().tagName(), e.removeAttr("class").attributes(), e.ownText()]`, `["2i",3,true,"ul",{"id":"a"},"text"]`},
		{`d.select("ul").first().empty(); return d.select("ul").outerHtml()`, `"<ul></ul>"`},
		{`d.getElementById("a").child(9)`, `JS_ERROR/RangeError: there is no child at index 9; the element has 3`},
		{`return d.select("div").first().select("> p").size()`, `2`},
		{`return [d.select("p + p").size(), d.select("p ~ ul li").size(), d.select("div > p, li").size(), d.select("p:not(.x)").size(), d.select("div:has(ul)").size(), d.select("p:contains('2')").size(), d.select("li:nth-child(2)").text()]`,
			`[1,2,4,1,1,1,"b"]`},
		{`return d.select("p").first().select("p").size()`, `1`},
	} {
		body := "const d = safety.parser.html(" + mustJSON(page) + ");" + tc.body
		if got := outcome(runWith(t, &fakeBroker{}, body, `{}`)); got != tc.want {
			t.Errorf("%s\ngot  %s\nwant %s", tc.body, got, tc.want)
		}
	}
}

// TestHTMLHostile gives documents and selectors that would take hours or all
// memory.
func TestHTMLHostile(t *testing.T) {
	if testing.Short() {
		t.Skip("one document after the other, each large")
	}
	open := `let open = ""; for (let i = 0; i < 400; i++) open += "<b a" + i + ">";`
	deep := `const d = safety.parser.html("<div>".repeat(480) + "<p>x".repeat(1000));`
	for _, tc := range []struct{ name, body, want string }{
		{"formatting opened anew", open + `safety.parser.html("<p>" + open + "<p>x".repeat(100000))`, "INVALID_INPUT/input-too-large"},
		{"formatting behind a scope", open + `safety.parser.html("<p>" + open + "<object></b>".repeat(400) + "</object>".repeat(400) + "<p>x".repeat(100000))`, ""},
		{"formatting in a fragment", open + `safety.parser.html("<div>").select("div").first().append("<p>" + open + "<p>x".repeat(100000))`, "INVALID_INPUT/input-too-large"},
		{"an attribute full of tags", `safety.parser.html('<a title="' + "<".repeat(8000000) + '">')`, "INVALID_INPUT/input-too-large"},
		{"a large honest page", `return safety.parser.html("<tr><td class=c><a href='/some/where/else'>text of a link</a></td><td>and <b>more</b></td></tr>\n".repeat(30000).replace(/^/, "<table>")).select("b").size()`, "30000"},
		{"many nodes", `safety.parser.html("<p>".repeat(2000000))`, "INVALID_INPUT/input-too-large"},
		{"many fragments", `const e = safety.parser.html("<div>").select("div").first(); const f = "<p>".repeat(100000); for (let i = 0; i < 100; i++) e.append(f)`, "INVALID_INPUT/input-too-large"},
		{"text of nested elements", `const d = safety.parser.html("<div>".repeat(400) + "x".repeat(1000000)); return d.select("*").text().length`, "HELPER_RUNTIME/result-too-large"},
		{"markup of nested elements", `const d = safety.parser.html("<div>".repeat(400) + "x".repeat(1000000)); return d.select("*").outerHtml().length`, "HELPER_RUNTIME/result-too-large"},
		{"texts of nested elements", `const d = safety.parser.html("<div>".repeat(400) + "x".repeat(1000000)); return d.select("*").eachText()`, "HELPER_RUNTIME/result-too-large"},
		{"descendants", deep + `return d.select("div ".repeat(30) + "none").size() + d.select("* ".repeat(60) + "i").size() + d.select("div ".repeat(30) + "p.none").size()`, "0"},
		{"too many steps", deep + `d.select("div ".repeat(100))`, "INVALID_INPUT/invalid-selector"},
		{"nested has", deep + `d.select(":has(:has(:has(i)))")`, "INVALID_INPUT/invalid-selector"},
		{"nested not", deep + `d.select(":not(:not(i))")`, "INVALID_INPUT/invalid-selector"},
		{"chain in has", deep + `d.select(":has(a b c d e)")`, "INVALID_INPUT/invalid-selector"},
		{"pattern", deep + `d.select("p:matches((a+)+b)")`, "INVALID_INPUT/invalid-selector"},
		{"pattern of an attribute", deep + `d.select("[a#=(a+)+b]")`, "INVALID_INPUT/invalid-selector"},
		{"open bracket", deep + `d.select("a[b")`, "INVALID_INPUT/invalid-selector"},
		{"open quote", deep + `d.select("a['b]")`, "INVALID_INPUT/invalid-selector"},
		{"two combinators", deep + `d.select("a > > b")`, "INVALID_INPUT/invalid-selector"},
		{"empty group", deep + `d.select("a,,b")`, "INVALID_INPUT/invalid-selector"},
		{"siblings until the end", `const d = safety.parser.html("<p></p>".repeat(60000)); return d.select("p ~ p ~ i, p:nth-last-child(1)").size()`, "1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			rep := runWith(t, &fakeBroker{}, tc.body, `{}`, func(c *worker.Call) {
				c.Limits.MaxOutputBytes = 64 << 20
			})
			got, _, _ := strings.Cut(outcome(rep), ":")
			if tc.want != "" && got != tc.want {
				t.Errorf("got %.200s, want %s", outcome(rep), tc.want)
			}
		})
	}
}

// selectorsAgree compares our steps with the library on a small document.
func selectorsAgree(t *testing.T, doc *html.Node, css string) {
	t.Helper()
	ours, err := parseSelector(css)
	if err != nil {
		return
	}
	theirs, err := cascadia.ParseGroup(css)
	if err != nil {
		return // a chain may begin with a combinator here
	}
	m := matcher{sel: ours, root: doc, tick: func() {}, memo: map[memoKey]bool{}}
	var got, want []string
	for n := range within(doc) {
		if m.matches(n) {
			got = append(got, fmt.Sprintf("%p %s", n, n.Data))
		}
	}
	for _, n := range cascadia.QueryAll(doc, theirs) {
		if n.Type != html.ElementNode {
			continue // :contains takes texts for elements there
		}
		want = append(want, fmt.Sprintf("%p %s", n, n.Data))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%q (-library +ours):\n%s", css, diff)
	}
}

const selectorPage = `<div id=a class="x y"><p n=1>1</p>t<p n="a b" class=x>2<i>i</i></p><ul><li>a</li><li><b>c</b></li></ul></div><div><p><i>j</i></div>`

func TestSelectors(t *testing.T) {
	doc, err := html.Parse(strings.NewReader(selectorPage))
	if err != nil {
		t.Fatal(err)
	}
	for _, css := range []string{"*", "p", "div p", "div > p", "p + p", "p ~ ul", "div p i, li b", "div>p>i", "body div ul li:last-child b", "#a .x", "[n='a b'] i", `[n="a b"]>i`,
		"p:not(.x) ", " div  >  p", "div:has(i) p", "\tdiv\n>\rp", "div * i", "* + *", "li ~ li b", "p:contains('2') i", "ul > :nth-child(2n)", "a\\ b", ".x.y > .x", "div ~ div p i"} {
		selectorsAgree(t, doc, css)
	}
}

func FuzzSelector(f *testing.F) {
	for _, s := range []string{"div p", "div>p+p~ul li,b", "[n='a b'] i", "p:not(.x):has(i)", ":contains('(')", "a\\,b", "> p", "p:nth-child(2n+1)", "*|*", "'", ":contains('')", "p :containsOwn('')"} {
		f.Add(s)
	}
	doc, _ := html.Parse(strings.NewReader(selectorPage))
	f.Fuzz(func(t *testing.T, css string) {
		if len(css) < 200 {
			selectorsAgree(t, doc, css)
		}
	})
}

// FuzzHTML reads any text, changes it and writes it out.
func FuzzHTML(f *testing.F) {
	for _, s := range []string{selectorPage, "<table><td><b a><b c><td><object></b>", "<svg><p><math><mi>", "<template><a><table><a>", "<frameset>", "<!doctype x [<!ENTITY a 'b'>]>&a;", "<b><p></b>x", "<select><option><table>"} {
		f.Add(s, "p")
	}
	f.Fuzz(func(t *testing.T, page, css string) {
		if len(page) > 1<<14 {
			return
		}
		rep := runWith(t, &fakeBroker{}, `const d = safety.parser.html(page); let n = 0;
			try { d.select(css).each(e => { e.append(css).before(e.html()); e.after(e.text()); n++; if (n > 20) throw 0 }); d.select("*").remove() } catch (e) { if (e !== 0 && !e.kind) throw e }
			return [d.title(), d.text(), d.html().length, n]`, mustJSON(map[string]string{"page": page, "css": css}))
		if f := rep.Failure; f != nil && f.Code != "HELPER_RUNTIME" && f.Code != "INVALID_INPUT" && f.Code != "RESOURCE_LIMIT" {
			t.Fatalf("%q %q: %s", page, css, outcome(rep))
		}
	})
}
