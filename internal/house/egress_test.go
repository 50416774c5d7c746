package house

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// Ways out of the process. Every call that writes text outward in these
// packages is on the list below, by its package, function and writer, with how
// often it stands there and what keeps a secret out of it. A new one fails the
// test until somebody has said which step masks it.

var outwardPackages = []string{"server", "server/admin", "service", "service/telemetry", "executor", "executor/broker", "audit", "audit/query", "audit/stdout", "audit/sink", "audit/sink/spool", "audit/sink/remote", "audit/sink/otlp", "audit/sink/syslog", "audit/sink/webhook", "audit/sink/file", "approval", "approval/webhook", "internal/standardhook", "cmd/toolwarrant"}

// What covers a writer.
const (
	masked  = "the text passed the mask of its call"                     // mask.Set of executor.run, or the audit writer
	fixed   = "text of this program alone: no argument, result or error" // constants, counts, names of the operator
	local   = "builds a value; whoever sends it is on the list"          // builders, digests, encoders into memory
	ours    = "errors of this program's own files and policy; they are made without a value of a call"
	visible = "shown on a terminal, masked before and made visible" // mask.Visible
)

// sink names what a call writes with, or is "".
func sink(call *ast.CallExpr) string {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	name := sel.Sel.Name
	if pkg, ok := sel.X.(*ast.Ident); ok {
		switch {
		case pkg.Name == "fmt" && (strings.HasPrefix(name, "Fprint") || strings.HasPrefix(name, "Print")),
			pkg.Name == "http" && (name == "Error" || name == "Redirect"), pkg.Name == "io" && (name == "WriteString" || strings.HasPrefix(name, "Copy")):
			return pkg.Name + "." + name
		case pkg.Name == "log" || pkg.Name == "slog":
			if strings.HasPrefix(name, "Print") || strings.HasPrefix(name, "Fatal") || strings.HasPrefix(name, "Panic") {
				return pkg.Name + "." + name
			}
		case pkg.Name == "binary" || pkg.Name == "hex" || pkg.Name == "base64":
			return ""
		}
	}
	switch name {
	case "Msg", "Msgf", "MsgFunc", "Send", "Write", "WriteString", "Encode", "Notify", "NotifyProgress", "Elicit", "printf":
		return "." + name
	}
	return ""
}

// rawField finds, in the chain of calls of a log line, one that takes a value
// of any kind.
func rawField(call *ast.CallExpr) string {
	for {
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return ""
		}
		switch sel.Sel.Name {
		case "Err", "AnErr", "Errs", "Interface", "Any", "RawJSON", "Fields":
			return sel.Sel.Name
		}
		if call, ok = sel.X.(*ast.CallExpr); !ok {
			return ""
		}
	}
}

// outwardTypes are the values of MCP that carry text to a client.
var outwardTypes = []string{"CallToolResult", "TextContent", "LoggingMessageParams", "ProgressNotificationParams", "ElicitParams", "EmbeddedResource", "ResourceContents", "PromptMessage"}

func TestEveryWayOutIsListed(t *testing.T) {
	found := map[string]int{}
	sources(t, func(dir string, file *ast.File, test bool) {
		if test || !slices.Contains(outwardPackages, dir) {
			return
		}
		for _, decl := range file.Decls {
			where := dir + " init"
			if fn, ok := decl.(*ast.FuncDecl); ok {
				where = dir + " " + fn.Name.Name
				if fn.Recv != nil && len(fn.Recv.List) > 0 {
					where = dir + " " + receiver(fn) + "." + fn.Name.Name
				}
			}
			ast.Inspect(decl, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.CallExpr:
					if s := sink(n); s != "" {
						found[where+" "+s]++
						if raw := rawField(n); raw != "" && strings.HasPrefix(dir, "executor") {
							t.Errorf("%s logs with %s, which shows what no mask has seen; mask the text and log it with Str", where, raw)
						}
					}
				case *ast.CompositeLit:
					if sel, ok := n.Type.(*ast.SelectorExpr); ok && slices.Contains(outwardTypes, sel.Sel.Name) {
						found[where+" "+sel.Sel.Name]++
					}
				}
				return true
			})
		}
	})
	for at, n := range found {
		if want := waysOut[at]; want.n != n {
			t.Errorf("%s writes outward %d times, %d are listed: say in waysOut what masks it", at, n, want.n)
		}
	}
	for at, way := range waysOut {
		if found[at] == 0 {
			t.Errorf("%s is listed and does not exist", at)
		}
		if way.by == "" {
			t.Errorf("%s is listed without what covers it", at)
		}
	}
}
