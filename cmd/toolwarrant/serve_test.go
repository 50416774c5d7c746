package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolwarrant/toolwarrant/audit"
)

// closeFields is the fixed content of a close record.
var closeFields = []string{
	"time", "schema", "seq", "prev", "phase", "writer", "callId", "relatedCallId", "traceId", "origin", "principal", "tool",
	"policy", "decision", "toolSafety", "effectivePolicy", "riskLevel", "riskSignals", "reasons", "humanInTheLoop", "params",
	"paramsDigest", "outcome", "error", "durationMs", "usage", "result", "isolation", "testMode", "shadow", "sandbox", "sum",
}

// few are the flags that choose some tools, and fewNames these tools.
var (
	few      = []string{"--preset", "dev-essentials", "--include-names", "writeTextFile"}
	fewNames = []string{"base64", "evalExpression", "getCurrentTime", "hash", "jwtDecode", "regexExtract", "uuid", "writeTextFile"}
)

// sdkClient connects the Go SDK's client at one protocol version.
func sdkClient(t *testing.T, url, version string, elicit func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error)) *mcp.ClientSession {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "sdk", Version: "1"}, &mcp.ClientOptions{ElicitationHandler: elicit})
	s, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: url}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestServeBothEras(t *testing.T) {
	home := t.TempDir()
	p := serve(t, home, nil, few...)
	for _, version := range []string{"2026-07-28", "2025-11-25", "2025-06-18"} {
		s := sdkClient(t, p.url, version, nil)
		if got := s.InitializeResult().ProtocolVersion; got != version {
			t.Errorf("negotiated %s, want %s", got, version)
		}
		list, err := s.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, tool := range list.Tools {
			names = append(names, tool.Name)
		}
		if !slices.Equal(names, fewNames) {
			t.Errorf("%s lists %v", version, names)
		}
		res, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "base64", Arguments: map[string]any{"text": "hello world"}})
		if err != nil {
			t.Fatal(err)
		}
		if text, ok := res.Content[0].(*mcp.TextContent); !ok || res.IsError || text.Text != "aGVsbG8gd29ybGQ=" {
			t.Errorf("%s: base64 gave %+v", version, res.Content[0])
		}
	}
	p.stop()

	all := records(t, home)
	var closed []record
	for _, r := range all {
		if r.str("phase") == "close" {
			closed = append(closed, r)
		}
	}
	if len(closed) != 3 {
		t.Fatalf("%d close records for three calls", len(closed))
	}
	for _, r := range closed {
		for _, f := range closeFields {
			if _, ok := r[f]; !ok {
				t.Errorf("a close record lacks %q", f)
			}
		}
		if len(r) != len(closeFields) {
			t.Errorf("a close record has %d fields, want %d", len(r), len(closeFields))
		}
		if r.str("outcome") != "OK" || r.str("tool", "name") != "base64" || r.str("origin") != "mcp-http" || r.str("riskLevel") != "L0" {
			t.Errorf("close record: %v", r)
		}
	}
	verifyWhole(t, home)
	flipsAreFound(t, auditFile(home))
}

// flipsAreFound alters one byte of a log at a time: every byte of the last
// line, every line end, and samples of the rest (the tests of package audit
// take every byte of a small log). The line it stands in has to be named.
func flipsAreFound(t *testing.T, path string) {
	t.Helper()
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	altered := filepath.Join(t.TempDir(), "altered.ndjson")
	last := bytes.LastIndexByte(whole[:len(whole)-1], '\n')
	line := 1
	for i, b := range whole {
		if i < last && i%97 != 0 && b != '\n' {
			continue
		}
		data := bytes.Clone(whole)
		data[i] ^= 1
		if err := os.WriteFile(altered, data, 0o600); err != nil {
			t.Fatal(err)
		}
		report, err := audit.Verify(context.Background(), []string{altered}, audit.VerifyOptions{})
		if err != nil {
			t.Fatal(err)
		}
		named := slices.ContainsFunc(report.Findings, func(f audit.Finding) bool { return f.Line == line })
		if report.OK || !named {
			t.Fatalf("byte %d (%q) of line %d altered: ok %t, findings %v", i, b, line, report.OK, report.Findings)
		}
		if b == '\n' {
			line++
		}
	}
	// The same by the command line, for the last line.
	data := bytes.Clone(whole)
	data[len(data)-20] ^= 1
	if err := os.WriteFile(altered, data, 0o600); err != nil {
		t.Fatal(err)
	}
	out, _, status := toolwarrant(t, t.TempDir(), "audit", "verify", altered, "--format", "json")
	var report struct {
		OK       bool
		Findings []struct{ Line int }
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil || status != 1 || report.OK || len(report.Findings) == 0 {
		t.Errorf("audit verify of an altered last line: status %d, %s", status, out)
	}
	if last := strings.Count(string(whole), "\n"); len(report.Findings) > 0 && report.Findings[len(report.Findings)-1].Line != last {
		t.Errorf("the altered line is %d, findings %v", last, report.Findings)
	}
}
