package server

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/server/auth"
)

// byGroup believes what a header says about who calls.
type byGroup struct{}

const groupHeader = "X-Test-Group"

func (byGroup) Authenticate(r *http.Request) (decision.Principal, error) {
	group := r.Header.Get(groupHeader)
	if group == "" {
		return decision.Principal{}, &auth.Refusal{Reason: "missing", Status: http.StatusUnauthorized}
	}
	return decision.Principal{Subject: "one-of-" + group, Method: "test", ClientID: "c", Groups: []string{group}, Scopes: []string{}}, nil
}

// as is a transport that calls as a member of a group.
type as string

func (group as) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set(groupHeader, string(group))
	return http.DefaultTransport.RoundTrip(r)
}

func connectAs(t *testing.T, url, version, group string) *mcp.ClientSession {
	t.Helper()
	cs, err := newClient("agent", nil).Connect(context.Background(), &mcp.StreamableClientTransport{
		Endpoint: url, MaxRetries: -1, DisableStandaloneSSE: true, HTTPClient: &http.Client{Transport: as(group)},
	}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cs.Close() })
	return cs
}

// views puts who sees what into the settings of the policy.
func (i *installation) views(views ...map[string]any) {
	i.t.Helper()
	i.access("views", views)
	i.tell()
}

// Two callers see what the views of their groups have, by list and by call; what
// they do not see answers like what does not exist, in both eras and over stdio.
func TestViews(t *testing.T) {
	i := install(t, map[string]map[string]any{
		"t_data": {"category": "DATA"}, "t_file": {"category": "FILE"}, "t_tags": {"tags": []string{"finance"}},
		"t_name": nil, "t_util": {"tags": []string{"util"}}, "t_none": nil,
	})
	i.views(
		map[string]any{"groups": []string{"finance"}, "categories": []string{"DATA"}, "tags": []string{"finance"}, "tools": []string{"t_name"}},
		map[string]any{"groups": []string{"ops"}, "categories": []string{"FILE"}, "tools": []string{"test.t_name"}},
		map[string]any{"groups": []string{"platform"}, "tools": []string{"*"}},
		map[string]any{"tags": []string{"util"}},
	)
	caller := Governed(i.Service)
	_, url := start(t, caller, func(o *Options) { o.Auth = byGroup{} })
	all := []string{"t_data", "t_file", "t_name", "t_none", "t_tags", "t_util"}

	sees := func(t *testing.T, cs *mcp.ClientSession, want ...string) {
		t.Helper()
		var listed []string
		for _, name := range toolNames(t, cs) {
			if strings.HasPrefix(name, "t_") {
				listed = append(listed, name)
			}
		}
		if d := cmp.Diff(want, listed); d != "" {
			t.Errorf("the list (-want +got):\n%s", d)
		}
		unknown := errorOf(t, callTool(t, cs, "t_nobody", nil))
		for _, name := range all {
			for _, word := range []string{name, "test." + name} {
				res := callTool(t, cs, word, nil)
				if slices.Contains(want, name) {
					if res.IsError {
						t.Errorf("%s is listed and cannot be called: %v", word, res.StructuredContent)
					}
					continue
				}
				got := errorOf(t, res)
				for _, field := range []string{"code", "reason", "decisionId"} {
					if fmt.Sprint(got[field]) != fmt.Sprint(unknown[field]) {
						t.Errorf("%s: %s is %v, of an unknown tool it is %v", word, field, got[field], unknown[field])
					}
				}
				for _, other := range all {
					if other != name && strings.Contains(fmt.Sprint(got["message"]), other) {
						t.Errorf("the refusal of %s names %s: %v", word, other, got["message"])
					}
				}
			}
		}
	}
	for _, v := range []string{"2026-07-28", "2025-11-25"} {
		t.Run(v, func(t *testing.T) {
			finance, ops := connectAs(t, url, v, "finance"), connectAs(t, url, v, "ops")
			for range 2 { // the second time from what is remembered
				sees(t, finance, "t_data", "t_name", "t_tags", "t_util")
				sees(t, ops, "t_file", "t_name", "t_util")
			}
			sees(t, connectAs(t, url, v, "platform"), all...)
			sees(t, connectAs(t, url, v, "guests"), "t_util")

			// A choice counts at once. Newer clients remember a list for a while,
			// so that others ask for it.
			me := decision.Principal{Subject: "uid:0", Method: "os-user", Groups: []string{}, Scopes: []string{}}
			if _, err := i.Hide(context.Background(), me, []string{"t_name"}); err != nil {
				t.Fatal(err)
			}
			sees(t, connectAs(t, url, v, "finance"), "t_data", "t_tags", "t_util")
			sees(t, connectAs(t, url, v, "ops"), "t_file", "t_util")
			if res := callTool(t, finance, "t_name", nil); errorOf(t, res)["code"] != "NOT_FOUND" {
				t.Errorf("an open session still has it: %v", res.StructuredContent)
			}
			if _, err := i.Expose(context.Background(), me, []string{"t_name"}); err != nil {
				t.Fatal(err)
			}
			sees(t, connectAs(t, url, v, "finance"), "t_data", "t_name", "t_tags", "t_util")
		})
		t.Run("stdio "+v, func(t *testing.T) { sees(t, overStdio(t, caller, v, nil), "t_util") })
	}
	// Who is not authenticated sees nothing at all.
	status, _, text := raw{t: t, url: url}.post(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`, "Mcp-Protocol-Version", "2025-11-25")
	if status != http.StatusUnauthorized || strings.Contains(text, "t_") {
		t.Errorf("without authentication: %d %s", status, text)
	}
	// The record alone says that there was a tool.
	log, err := os.ReadFile(i.Audit.Path())
	if err != nil {
		t.Fatal(err)
	}
	hidden := 0
	for _, line := range strings.Split(string(log), "\n") {
		var r struct {
			Tool    *struct{ Name string }
			Error   *struct{ Code string }
			Reasons []struct{ ID string }
		}
		if json.Unmarshal([]byte(line), &r) == nil && r.Error != nil && r.Error.Code == "NOT_FOUND" && r.Tool != nil && len(r.Reasons) == 1 && r.Reasons[0].ID == "hidden" {
			hidden++
		}
	}
	if hidden == 0 {
		t.Error("no record says that a tool was hidden")
	}
}
