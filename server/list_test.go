package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolwarrant/toolwarrant/decision"
)

// many is a Caller with a list of its own for each name of a client.
type many struct {
	*fake
	tools func(client string) []ToolView
}

func (m many) Tools(_ context.Context, p decision.Principal) (*List, error) {
	return NewList(m.tools(p.ClientID))
}

func someTools(n int) []ToolView {
	yes, no := true, false
	out := make([]ToolView, n)
	for i := range out {
		out[i] = ToolView{
			Name: fmt.Sprintf("tool%04d", i), Description: "Line one.\nLine \u2028 <two> & \"three\" " + strings.Repeat("é", i%7),
			InputSchema: json.RawMessage(`{"type": "object", "properties": {"z": {"type": "string"}, "a": {"type": "string"}}}`),
			Annotations: Annotations{ReadOnly: &yes, OpenWorld: &no},
		}
	}
	return out
}

// wireTools are tools as the library would send them.
func wireTools(tools []ToolView) []*mcp.Tool {
	out := make([]*mcp.Tool, len(tools))
	for i, v := range tools {
		out[i] = v.wire()
	}
	return out
}

// The bytes of a list are those that the library would write, in any order of
// the tools.
func TestListIsWhatTheLibraryWrites(t *testing.T) {
	tools := someTools(20)
	var want bytes.Buffer
	enc := json.NewEncoder(&want)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(wireTools(tools)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		slices.Reverse(tools)
		l, err := NewList(tools)
		if err != nil {
			t.Fatal(err)
		}
		parts, next := l.page("", 1<<20)
		if d := cmp.Diff(strings.TrimSpace(want.String()), string(newStand(parts).whole())); d != "" || next != "" {
			t.Error(d, next)
		}
	}
	if _, err := NewList([]ToolView{{Name: "bad", InputSchema: json.RawMessage(`{"a":`)}}); err == nil {
		t.Error("a schema that is no JSON")
	}
}

func TestPages(t *testing.T) {
	l, err := NewList(someTools(400))
	if err != nil {
		t.Fatal(err)
	}
	if len(l.segments) < 2 {
		t.Fatalf("%d segments", len(l.segments))
	}
	page := func(after string, limit int) (names []string, size int, next string) {
		parts, next := l.page(after, limit)
		text := newStand(parts).whole()
		var tools []struct{ Name string }
		if err := json.Unmarshal(text, &tools); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		for _, tool := range tools {
			names = append(names, tool.Name)
		}
		return names, len(text) - 2, next
	}
	all, size, _ := page("", 1<<30)
	each := l.segments[0].ends[0] - 1
	seam := l.segments[0].ends[len(l.segments[0].ends)-1] - 1 // up to the first seam, without comma
	for _, limit := range []int{1, each - 1, each, each + 1, 2*each + 1, 3 * each, seam - 1, seam, seam + 1, seam + 2, size - 1, size, size + 1, 1 << 30} {
		var got []string
		for after := ""; len(got) <= len(all); {
			names, size, next := page(after, limit)
			if len(names) == 0 || size > limit && len(names) > 1 {
				t.Fatalf("a page of %d bytes has %d and %d tools", limit, size, len(names))
			}
			got = append(got, names...)
			if next != "" {
				_, one, _ := page(next, 1)
				if size+1+one <= limit {
					t.Errorf("a page of %d bytes has %d, and %d would fit", limit, size, one)
				}
				if next != names[len(names)-1] {
					t.Errorf("a page up to %s goes on after %s", names[len(names)-1], next)
				}
			}
			if after = next; after == "" {
				break
			}
		}
		if d := cmp.Diff(all, got); d != "" {
			t.Errorf("pages of %d bytes: %s", limit, d)
		}
	}
	for after, want := range map[string][]string{
		"tool0398": {"tool0399"}, "tool0398a": {"tool0399"}, "tool0399": nil, "zzz": nil, "a": all,
	} {
		if names, _, next := page(after, 1<<20); !cmp.Equal(want, names) || next != "" {
			t.Errorf("after %s: %v, %q", after, names, next)
		}
	}
	for i, name := range all {
		if names, _, _ := page(name, 1<<30); len(names) != len(all)-i-1 {
			t.Errorf("after %s: %d tools", name, len(names))
		}
	}
	empty, err := NewList(nil)
	if parts, next := empty.page("", 10); err != nil || len(parts) != 0 || next != "" {
		t.Errorf("no tools: %q %q %v", parts, next, err)
	}
}

func TestCursor(t *testing.T) {
	for _, name := range []string{"a", "tool é", strings.Repeat("n", 300)} {
		if got, ok := placeOf(cursorFor(name)); !ok || got != name {
			t.Errorf("%q: %q %v", name, got, ok)
		}
	}
	if got, ok := placeOf(""); !ok || got != "" || cursorFor("") != "" {
		t.Error("the start")
	}
	for _, bad := range []string{"x", "!!", cursorFor("a") + "=", cursorFor("a") + "\n", "YWZ0ZXI6", "YWZ0ZXI6_w", "b3RoZXI6YQ"} {
		if got, ok := placeOf(bad); ok {
			t.Errorf("%q is taken for %q", bad, got)
		}
	}
}

func FuzzCursor(f *testing.F) {
	f.Add(cursorFor("tool"))
	f.Add("")
	l, err := NewList(someTools(5))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, cursor string) {
		name, ok := placeOf(cursor)
		if !ok {
			return
		}
		if cursorFor(name) != cursor {
			t.Errorf("%q reads as %q, which is written %q", cursor, name, cursorFor(name))
		}
		parts, _ := l.page(name, 1)
		if text := newStand(parts).whole(); !json.Valid(text) {
			t.Errorf("after %q: %s", name, text)
		}
	})
}

// Clients of each version get every page of their own list, over each
// transport, also side by side.
func TestLargeLists(t *testing.T) {
	caller := many{newFake(), func(client string) []ToolView {
		tools := someTools(300)
		for i := range tools {
			tools[i].Title = client
		}
		return tools
	}}
	pages := func(o *Options) { o.PageBytes = 20_000 }
	check := func(t *testing.T, cs *mcp.ClientSession, client string) {
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				var got []*mcp.Tool
				requests := 0
				for cursor := ""; ; requests++ {
					res, err := cs.ListTools(context.Background(), &mcp.ListToolsParams{Cursor: cursor})
					if err != nil {
						t.Error(err)
						return
					}
					got = append(got, res.Tools...)
					if cursor = res.NextCursor; cursor == "" {
						break
					}
				}
				if requests < 2 || len(got) != 300 {
					t.Errorf("%d tools, %d requests", len(got), requests)
				}
				for i, tool := range got {
					if tool.Title != client || tool.Name != fmt.Sprintf("tool%04d", i) {
						t.Errorf("tool %d is %s of %s", i, tool.Name, tool.Title)
						return
					}
				}
			})
		}
		wg.Wait()
	}
	_, url := start(t, caller, pages)
	for _, v := range versions {
		t.Run("http "+v, func(t *testing.T) {
			var wg sync.WaitGroup
			for _, client := range []string{"a", "b"} {
				cs := connect(t, url, v, client, nil)
				wg.Go(func() { check(t, cs, client) })
			}
			wg.Wait()
		})
	}
	for _, v := range versions[:2] {
		t.Run("stdio "+v, func(t *testing.T) { check(t, overStdio(t, caller, v, nil, pages), "stdio-client") })
	}
}

// The same request gets the same bytes.
func TestListIsDeterministic(t *testing.T) {
	turn := 0
	_, url := start(t, many{newFake(), func(string) []ToolView {
		tools := someTools(50)
		for range turn {
			tools = append(tools[7:], tools[:7]...)
		}
		turn++
		return tools
	}})
	list := func() string {
		_, _, text := raw{t: t, url: url}.post(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{`+askingMeta+`}}`, "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/list")
		return text
	}
	first := list()
	for range 3 {
		if again := list(); again != first {
			t.Error(cmp.Diff(first, again))
		}
	}
	if strings.Contains(first, "list-") || !json.Valid([]byte(first)) || !strings.Contains(first, `"resultType":"complete"`) {
		t.Errorf("%s", first)
	}
}
