package filesystem

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestLines(t *testing.T) {
	_, f := setup(t, map[string]string{
		"l": "one\r\ntwo\rTODO three\n\nfour", "csv": "a,b,c\nd,e\n\n", "tab": "a\tb\nc\td\n", "sp": "a  b   c\n",
		"num": "10\n9\nx\n-1.5\n 2 \n9\n", "abc": "b\nA\na\nB\na\n", "empty": "", "bad": "\xff\n",
	})
	n := func(v int64) *int64 { return &v }
	type result struct {
		lines  []string
		reason string
	}
	run := func(op string) result {
		switch op {
		case "slice":
			l, e := f.Slice(bg, "l", nil, nil)
			return result{l, reasonOf(e)}
		case "slice 1,3":
			l, e := f.Slice(bg, "l", n(1), n(3))
			return result{l, reasonOf(e)}
		case "slice -2":
			l, e := f.Slice(bg, "l", n(-2), nil)
			return result{l, reasonOf(e)}
		case "slice 0,-1":
			l, e := f.Slice(bg, "l", n(0), n(-1))
			return result{l, reasonOf(e)}
		case "slice far":
			l, e := f.Slice(bg, "l", n(-1<<53), n(1<<53))
			return result{l, reasonOf(e)}
		case "slice crossed":
			l, e := f.Slice(bg, "l", n(3), n(1))
			return result{l, reasonOf(e)}
		case "slice empty":
			l, e := f.Slice(bg, "empty", nil, nil)
			return result{l, reasonOf(e)}
		case "slice bad":
			l, e := f.Slice(bg, "bad", nil, nil)
			return result{l, reasonOf(e)}
		case "grep":
			l, e := f.Grep(bg, "^t|TODO", "l", GrepOptions{})
			return result{l, reasonOf(e)}
		case "grep numbered":
			l, e := f.Grep(bg, "o", "l", GrepOptions{Numbered: true, Limit: 2})
			return result{l, reasonOf(e)}
		case "grep insensitive":
			l, e := f.Grep(bg, "^t", "l", GrepOptions{CaseInsensitive: true, Limit: -1})
			return result{l, reasonOf(e)}
		case "grep none":
			l, e := f.Grep(bg, "zzz", "l", GrepOptions{})
			return result{l, reasonOf(e)}
		case "grep no pattern":
			l, e := f.Grep(bg, "", "l", GrepOptions{})
			return result{l, reasonOf(e)}
		case "grep look-around":
			l, e := f.Grep(bg, "(?=a)(a+)+$", "l", GrepOptions{})
			return result{l, reasonOf(e)}
		case "grep huge repeat":
			l, e := f.Grep(bg, "(a{1000}){1000}", "l", GrepOptions{})
			return result{l, reasonOf(e)}
		case "grep large pattern":
			l, e := f.Grep(bg, strings.Repeat("a{1000}", 20), "l", GrepOptions{})
			return result{l, reasonOf(e)}
		case "cut":
			l, e := f.Cut(bg, "csv", CutOptions{Fields: []int64{3, 1}, Delimiter: ","})
			return result{l, reasonOf(e)}
		case "cut tab":
			l, e := f.Cut(bg, "tab", CutOptions{Fields: []int64{2}})
			return result{l, reasonOf(e)}
		case "cut regex":
			l, e := f.Cut(bg, "sp", CutOptions{Fields: []int64{1, 3}, Delimiter: " +", Regex: true})
			return result{l, reasonOf(e)}
		case "cut bad regex":
			l, e := f.Cut(bg, "sp", CutOptions{Fields: []int64{1}, Delimiter: "(", Regex: true})
			return result{l, reasonOf(e)}
		case "cut no fields":
			l, e := f.Cut(bg, "sp", CutOptions{})
			return result{l, reasonOf(e)}
		case "cut field 0":
			l, e := f.Cut(bg, "sp", CutOptions{Fields: []int64{0}})
			return result{l, reasonOf(e)}
		case "sort":
			l, e := f.Sort(bg, "abc", SortOptions{})
			return result{l, reasonOf(e)}
		case "sort all":
			l, e := f.Sort(bg, "abc", SortOptions{CaseInsensitive: true, Unique: true, Reverse: true})
			return result{l, reasonOf(e)}
		case "sort numeric":
			l, e := f.Sort(bg, "num", SortOptions{Numeric: true})
			return result{l, reasonOf(e)}
		case "sort numeric reverse":
			l, e := f.Sort(bg, "num", SortOptions{Numeric: true, Reverse: true, Unique: true})
			return result{l, reasonOf(e)}
		}
		t.Fatal(op)
		return result{}
	}
	all := []string{"one", "two", "TODO three", "", "four"}
	for op, want := range map[string]result{
		"slice": {all, ""}, "slice far": {all, ""}, "slice 1,3": {all[1:3], ""}, "slice -2": {all[3:], ""}, "slice 0,-1": {all[:4], ""},
		"slice crossed": {[]string{}, ""}, "slice empty": {[]string{}, ""}, "slice bad": {nil, InvalidUTF8},
		"grep": {[]string{"two", "TODO three"}, ""}, "grep numbered": {[]string{"1:one", "2:two"}, ""},
		"grep insensitive": {[]string{"two", "TODO three"}, ""}, "grep none": {[]string{}, ""},
		"grep no pattern": {nil, GrepPatternRequired}, "grep look-around": {nil, GrepInvalidPattern}, "grep huge repeat": {nil, GrepInvalidPattern}, "grep large pattern": {nil, GrepInvalidPattern},
		"cut": {[]string{"c,a", ",d", ","}, ""}, "cut tab": {[]string{"b", "d"}, ""}, "cut regex": {[]string{"a\tc"}, ""},
		"cut bad regex": {nil, CutInvalidDelimiter}, "cut no fields": {nil, CutFieldsRequired}, "cut field 0": {nil, CutFieldsRequired},
		"sort": {[]string{"A", "B", "a", "a", "b"}, ""}, "sort all": {[]string{"b", "B", "A", "a"}, ""},
		"sort numeric": {[]string{"-1.5", " 2 ", "9", "9", "10", "x"}, ""}, "sort numeric reverse": {[]string{"10", "9", " 2 ", "-1.5", "x"}, ""},
	} {
		if diff := cmp.Diff(want, run(op), cmp.AllowUnexported(result{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", op, diff)
		}
	}
	if c, fail := f.LineCount(bg, "l"); c != 5 || fail != nil {
		t.Errorf("%d %+v", c, fail)
	}
	if c, fail := f.LineCount(bg, "empty"); c != 0 || fail != nil {
		t.Errorf("%d %+v", c, fail)
	}
}

func FuzzGlob(f *testing.F) {
	for _, s := range []string{"*", "[a-z]?", "{a,b}*", `\*`, "[!^&&]", "é[é]"} {
		f.Add(s, "name")
	}
	f.Fuzz(func(_ *testing.T, glob, name string) {
		if re, ok := compileGlob(glob); ok {
			re.MatchString(name)
		}
	})
}

func TestHostileTexts(t *testing.T) {
	base, f := setup(t, map[string]string{"blank": strings.Repeat("\n", maxLines+1)})
	put(t, filepath.Join(base, "long"), strings.Repeat("a", 1<<20))
	if n, fail := f.LineCount(bg, "blank"); n != maxLines+1 || fail != nil {
		t.Errorf("%d %+v", n, fail)
	}
	if _, fail := f.Sort(bg, "blank", SortOptions{}); reasonOf(fail) != FileTooLarge {
		t.Errorf("%+v", fail)
	}
	if got, fail := f.Grep(bg, "a$", "long", GrepOptions{}); len(got) != 1 || fail != nil {
		t.Errorf("%d lines, %+v", len(got), fail)
	}
	// Slow by the size of pattern and line: ends with the call, not before.
	ctx, cancel := context.WithTimeout(bg, 20*time.Millisecond)
	defer cancel()
	if _, fail := f.Grep(ctx, "(?:a?){900}(?:a?){900}b", "long", GrepOptions{}); reasonOf(fail) != Interrupted {
		t.Errorf("%+v", fail)
	}
	if _, fail := f.Cut(bg, "long", CutOptions{Fields: []int64{9999}, Delimiter: "a.*z|a", Regex: true}); reasonOf(fail) != CutInvalidDelimiter {
		t.Errorf("%+v", fail)
	}
	fields := make([]int64, maxFields)
	for i := range fields {
		fields[i] = 1
	}
	put(t, filepath.Join(base, "many"), strings.Repeat("x\n", 100_000))
	if _, fail := f.Cut(bg, "many", CutOptions{Fields: fields}); reasonOf(fail) != FileTooLarge {
		t.Errorf("%+v", fail)
	}
}
