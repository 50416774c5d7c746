package class

import (
	"regexp"
	"strings"
	"testing"

	"github.com/toolwarrant/toolwarrant/fault"
)

var (
	baseAllow = []string{"java.lang.*", "java.math.*", "java.time.*", "java.util.*", "java.text.*"}
	baseDeny  = []string{
		"java.lang.System", "java.lang.Runtime", "java.lang.ProcessBuilder", "java.lang.Process", "java.lang.Class",
		"java.lang.invoke.*", "java.lang.reflect.*", "java.lang.Thread", "java.lang.ThreadGroup", "java.lang.ClassLoader",
		"java.util.ServiceLoader", "java.util.spi.*",
	}
)

func TestCheck(t *testing.T) {
	tests := []struct{ name, reason string }{
		{"java.lang.Math", ""},
		{"java.time.Instant", ""},
		{"java.util.concurrent.atomic.AtomicLong", ""},
		{"java.util.Map$Entry", ""},
		{"java.lang.System", Denied},
		{"java.lang.System$Logger", Denied},
		{"java.lang.ProcessBuilder$Redirect$Type", Denied},
		{"java.lang.reflect.Method", Denied},
		{"java.lang.invoke.MethodHandles$Lookup", Denied},
		{"java.util.spi.ToolProvider", Denied},
		{"java.io.File", NotAllowed},
		{"java.lang", NotAllowed},
		{"java.langx.Math", NotAllowed},
		{"java", NotAllowed},
		{"Java.lang.Math", NotAllowed},
		{"java$lang.Math", NotAllowed},
		{"java.lang.system", ""}, // another class; Java names are case-sensitive
		{"", InvalidName},
		{" java.lang.System", InvalidName},
		{"java.lang.System ", InvalidName},
		{"java.lang.System\x00", InvalidName},
		{"java.lang.System\n", InvalidName},
		{"java..lang.System", InvalidName},
		{".java.lang.System", InvalidName},
		{"java.lang.System.", InvalidName},
		{"java/lang/System", InvalidName},
		{"[Ljava.lang.System;", InvalidName},
		{"java.lang.Object[]", InvalidName},
		{"java.lang.Sy\u017ftem", InvalidName},
		{"jav\u0430.lang.System", InvalidName},
		{"java.lang.*", InvalidName},
		{"java.lang.9x", InvalidName},
		{"java.lang.Math;", InvalidName},
		{"a" + strings.Repeat(".a", 300), InvalidName},
	}
	g := New(baseAllow, baseDeny)
	for _, tt := range tests {
		got := ""
		f := g.Check(tt.name)
		if f != nil {
			got = f.Reason
			want := fault.Security
			if got == InvalidName {
				want = fault.InvalidInput
			}
			if f.Code != string(want) || f.Helper != Helper {
				t.Errorf("Check(%q): code %s, helper %s", tt.name, f.Code, f.Helper)
			}
		}
		if got != tt.reason {
			t.Errorf("Check(%q) = %q, want %q", tt.name, got, tt.reason)
		}
	}
}

func TestDenyWinsAndEmptyRefuses(t *testing.T) {
	if f := New([]string{"a.B"}, []string{"a.*"}).Check("a.B"); f == nil || f.Reason != Denied {
		t.Errorf("an allow beat a deny: %v", f)
	}
	if f := New([]string{"a.Outer"}, nil).Check("a.Outer$Inner"); f == nil {
		t.Error("an exact allow covers a nested class")
	}
	for _, g := range []Gate{{}, New(nil, nil), New([]string{"*", ".*", ""}, nil)} {
		if g.Check("java.lang.Math") == nil {
			t.Errorf("%v allows a class", g)
		}
	}
}

func FuzzClass(f *testing.F) {
	for _, s := range []string{"java.lang.System", "java.lang.Math", "java.util.Map$Entry", "java.lang.System$", "$", "a.$.b", "[I"} {
		f.Add(s)
	}
	shape := regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$]*(\.[A-Za-z_$][A-Za-z0-9_$]*)*$`)
	g := New(baseAllow, baseDeny)
	f.Fuzz(func(t *testing.T, name string) {
		if g.Check(name) != nil {
			return
		}
		if !shape.MatchString(name) {
			t.Fatalf("%q is no class name", name)
		}
		for _, d := range baseDeny {
			p, wild := strings.CutSuffix(d, "*")
			if name == d || wild && strings.HasPrefix(name, p) || strings.HasPrefix(name, d+"$") {
				t.Fatalf("%q passed the deny %q", name, d)
			}
		}
	})
}

// TestEachKindOfEntry tries each way to write an entry, as a deny and as an
// allow, on the names that it could be thought to cover.
func TestEachKindOfEntry(t *testing.T) {
	names := []string{"a.B", "a.b.C", "a.b.c.D", "ab.C", "a.B$I", "a.BC", "A.B"}
	every := strings.Join(names, " ") // under a deny that cannot be read
	for _, tt := range []struct {
		entry   string
		allowed string // the names that the entry alone allows
		denied  string // the names that it denies where everything is allowed
	}{
		{"a.B", "a.B", "a.B a.B$I"},
		{"a.B$I", "a.B$I", "a.B$I"},
		{"a.*", "a.B a.b.C a.b.c.D a.B$I a.BC", "a.B a.b.C a.b.c.D a.B$I a.BC"},
		{"a.b.*", "a.b.C a.b.c.D", "a.b.C a.b.c.D"},
		{"a.B.*", "", ""},
		{"a", "", ""},
		{"a.", "", every},
		{"*", "", every},
		{".*", "", every},
		{"", "", every},
		{"a.B*", "", every},
		{"a.*.D", "", every},
		{"*.B", "", every},
		{"a.**", "", every},
		{"a.b", "", ""},
		{" a.B", "", every},
		{"A.*", "A.B", "A.B"},
	} {
		all := []string{"a.*", "ab.*", "A.*"}
		var allowed, denied []string
		for _, n := range names {
			if New([]string{tt.entry}, nil).Check(n) == nil {
				allowed = append(allowed, n)
			}
			f := New(all, []string{tt.entry}).Check(n)
			if f != nil && f.Reason == Denied {
				denied = append(denied, n)
			} else if f != nil {
				t.Errorf("deny %q: %s: %+v", tt.entry, n, f)
			}
			// A deny stands whatever is allowed, in any order and number.
			if f != nil && New(append([]string{n, tt.entry}, all...), []string{"x.Y", tt.entry, "z.*"}).Check(n) == nil {
				t.Errorf("deny %q was lifted for %s by allows", tt.entry, n)
			}
		}
		if got := strings.Join(allowed, " "); got != tt.allowed {
			t.Errorf("allow %q covers %q, want %q", tt.entry, got, tt.allowed)
		}
		if got := strings.Join(denied, " "); got != tt.denied {
			t.Errorf("deny %q covers %q, want %q", tt.entry, got, tt.denied)
		}
	}
}

// TestOpposites: for each pair of entries that meet on a name, the deny wins
// and what it does not cover stays allowed.
func TestOpposites(t *testing.T) {
	for _, tt := range []struct{ allow, deny, refused, open string }{
		{"java.lang.*", "java.lang.System", "java.lang.System", "java.lang.Math"},
		{"java.lang.*", "java.lang.reflect.*", "java.lang.reflect.Method", "java.lang.reflectX"},
		{"java.lang.System", "java.lang.*", "java.lang.System", ""},
		{"java.lang.System", "java.lang.System", "java.lang.System", ""},
		{"java.lang.System$Logger", "java.lang.System", "java.lang.System$Logger", ""},
		{"java.util.*", "java.util.Map", "java.util.Map$Entry", "java.util.Mapper"},
	} {
		g := New([]string{tt.allow}, []string{tt.deny})
		if f := g.Check(tt.refused); f == nil || f.Reason != Denied {
			t.Errorf("%s - %s: %s: %+v", tt.allow, tt.deny, tt.refused, f)
		}
		if tt.open != "" && g.Check(tt.open) != nil {
			t.Errorf("%s - %s: %s is refused", tt.allow, tt.deny, tt.open)
		}
	}
}
