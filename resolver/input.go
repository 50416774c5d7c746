package resolver

import (
	"bytes"
	"encoding/json"
	"net"
	"path/filepath"
	"strings"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/spec"
)

// emptyFolder is the base of an installation that has none.
const emptyFolder = "/var/empty"

// terms builds one object of the policy input: fields that are null are left
// out, so that an absent value is undefined and never a null.
type terms [][2]*ast.Term

func (t *terms) add(name string, v *ast.Term) {
	*t = append(*t, [2]*ast.Term{ast.InternedTerm(name), v})
}

func (t terms) object() *ast.Term { return ast.NewTerm(ast.NewObject(t...)) }

func stringTerm(s string) *ast.Term { return ast.NewTerm(ast.String(s)) }

// set is the form in which every list without order enters the policy.
func set(values []string) *ast.Term {
	ts := make([]*ast.Term, len(values))
	for i, v := range values {
		ts[i] = stringTerm(v)
	}
	return ast.SetTerm(ts...)
}

func ports(values []int) *ast.Term {
	ts := make([]*ast.Term, len(values))
	for i, v := range values {
		ts[i] = ast.InternedTerm(v)
	}
	return ast.SetTerm(ts...)
}

// term is a layer as input.layers carries it.
func (l *layer) term() *ast.Term {
	var t, network terms
	t.add("name", stringTerm(l.name))
	if l.AllowClasses != nil {
		t.add("allowClasses", set(l.AllowClasses))
	}
	if l.DenyClasses != nil {
		t.add("denyClasses", set(l.DenyClasses))
	}
	if l.Mode != nil {
		network.add("mode", stringTerm(*l.Mode))
	}
	if l.Hosts != nil {
		network.add("hosts", set(l.Hosts))
	}
	if l.HostsDeny != nil {
		network.add("hostsDeny", set(l.HostsDeny))
	}
	if l.Ports != nil {
		network.add("ports", ports(l.Ports))
	}
	t.add("network", network.object())
	for name, b := range map[string]*bool{"fileRead": l.FileRead, "fileWrite": l.FileWrite} {
		if b != nil {
			t.add(name, ast.InternedTerm(*b))
		}
	}
	for name, n := range map[string]*int64{
		"maxStatements": l.MaxStatements, "timeoutSeconds": l.TimeoutSeconds,
		"maxMemoryBytes": l.MaxMemoryBytes, "maxOutputBytes": l.MaxOutputBytes, "maxLogLines": l.MaxLogLines,
	} {
		if n != nil {
			t.add(name, ast.InternedTerm(*n))
		}
	}
	return t.object()
}

// operatorTerm checks what the operator set and builds input.layers.operator.
func operatorTerm(o *Operator) (*ast.Term, error) {
	if o.BasePath == "" {
		o.BasePath = emptyFolder
	}
	roots := []string{}
	for _, dir := range append([]string{o.BasePath}, o.Roots...) {
		if !filepath.IsAbs(dir) {
			return nil, fault.New(fault.Usage, "path-not-absolute", "the folder %q of fs.base-path or fs.roots is not absolute", dir)
		}
		roots = append(roots, filepath.Clean(dir))
	}
	o.BasePath = roots[0]
	private := map[string][]string{}
	for _, pair := range o.PrivateHosts {
		host, port, err := net.SplitHostPort(pair)
		if err != nil || host == "" || port == "" {
			return nil, fault.New(fault.Usage, "private-host-invalid", "%q of egress.private-hosts is not host:port", pair).Because(err)
		}
		host = strings.TrimSuffix(strings.ToLower(host), ".")
		pair := net.JoinHostPort(host, port)
		for _, name := range []string{host, pair} {
			private[name] = append(private[name], pair)
		}
	}
	var pairs, t terms
	for _, name := range sortedKeys(private) {
		pairs.add(name, set(private[name]))
	}
	grants := make([]*ast.Term, len(o.Grants))
	for i, g := range o.Grants {
		var gt terms
		gt.add("names", set(g.Names))
		gt.add("tools", set(g.Tools))
		gt.add("categories", set(g.Categories))
		gt.add("sources", set(g.Sources))
		grants[i] = gt.object()
	}
	t.add("basePath", stringTerm(o.BasePath))
	t.add("roots", set(roots))
	t.add("separator", stringTerm(string(filepath.Separator)))
	t.add("allowOpenMode", ast.InternedTerm(o.AllowOpenMode))
	t.add("privateHosts", pairs.object())
	t.add("grants", ast.ArrayTerm(grants...))
	return t.object(), nil
}

// toolTerm builds input.tool from a spec.
func toolTerm(tool Tool, digest string, base string) *ast.Term {
	s := tool.Spec
	t := toolIdentity(tool, base)
	t.add("specDigest", stringTerm(digest))
	t.add("humanInTheLoop", hitlTerm(s.HumanInTheLoop))
	params := make([]string, len(s.Params))
	for i, p := range s.Params {
		params[i] = p.Name
	}
	t.add("params", set(params))
	masks := masksOf(s)
	t.add("maskParams", set(masks.names))
	if forms := masks.term(); forms != nil {
		t.add("maskForms", forms)
	}
	facts := s.Facts()
	var code terms
	code.add("helpers", set(facts.Helpers))
	code.add("javaInterop", ast.InternedTerm(facts.JavaInterop))
	t.add("code", code.object())
	return t.object()
}

// toolIdentity is the part of input.tool that says which tool it is and what it
// asks of the layers.
func toolIdentity(tool Tool, base string) terms {
	s := tool.Spec
	var t terms
	t.add("toolId", stringTerm(s.ToolID))
	t.add("name", stringTerm(s.Name))
	t.add("category", stringTerm(s.Category))
	t.add("tags", set(s.Tags))
	t.add("source", stringTerm(tool.Source))
	t.add("manifestEnv", set(tool.ManifestEnv))
	t.add("placeholders", set(s.Placeholders()))
	t.add("sandboxOverrides", overridesTerm(s.Overrides, base))
	if asked := sandboxAsked(s); asked != nil {
		t.add("sandbox", asked)
	}
	return t
}

func hitlTerm(h *spec.HumanInTheLoop) *ast.Term {
	var t terms
	if h != nil && h.Mode != nil {
		t.add("mode", stringTerm(*h.Mode))
	}
	if h != nil && h.PromptTemplate != nil {
		t.add("promptTemplate", stringTerm(*h.PromptTemplate))
	}
	return t.object()
}

func overridesTerm(o *spec.Overrides, base string) *ast.Term {
	if o == nil {
		o = &spec.Overrides{}
	}
	var t terms
	t.add("addAllowClasses", set(o.AddAllowClasses))
	t.add("removeAllowClasses", set(o.RemoveAllowClasses))
	t.add("addDenyClasses", set(o.AddDenyClasses))
	t.add("removeDenyClasses", set(o.RemoveDenyClasses))
	hosts := append([]string(nil), o.HostsAllow...)
	lower(hosts)
	t.add("hostsAllow", set(hosts))
	if o.NetworkMode != nil {
		t.add("networkMode", stringTerm(*o.NetworkMode))
	}
	for name, b := range map[string]*bool{"fileRead": o.FileRead, "fileWrite": o.FileWrite, "destructive": o.Destructive} {
		if b != nil {
			t.add(name, ast.InternedTerm(*b))
		}
	}
	if o.FSBasePath != nil {
		t.add("fsBasePath", stringTerm(resolvePath(base, *o.FSBasePath)))
	}
	return t.object()
}

// resolvePath is the base folder that a document asks for: a relative path
// joins the base, an absolute one stands for itself; both are cleaned by text,
// so that ".." is gone before the policy compares.
func resolvePath(base, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(base, path)
}

func principalTerm(p decision.Principal) *ast.Term {
	return ast.NewTerm(ast.NewObject(
		[2]*ast.Term{ast.InternedTerm("subject"), stringTerm(p.Subject)},
		[2]*ast.Term{ast.InternedTerm("method"), stringTerm(p.Method)},
		[2]*ast.Term{ast.InternedTerm("clientId"), stringTerm(p.ClientID)},
		[2]*ast.Term{ast.InternedTerm("groups"), set(p.Groups)},
		[2]*ast.Term{ast.InternedTerm("scopes"), set(p.Scopes)},
		[2]*ast.Term{ast.InternedTerm("untrusted"), ast.InternedTerm(p.Untrusted)},
	))
}

// callTerm builds input.call. Arguments that the caller has no part in (lists
// and lint) are absent.
func callTerm(origin decision.Origin, args json.RawMessage) (*ast.Term, error) {
	var t terms
	t.add("origin", stringTerm(string(origin)))
	if args != nil {
		v, err := jsonTerm(args)
		if err != nil {
			return nil, err
		}
		t.add("args", v)
	}
	return t.object(), nil
}

// jsonTerm reads one JSON value; numbers keep their digits.
func jsonTerm(raw json.RawMessage) (*ast.Term, error) {
	v, err := ast.ValueFromReader(bytes.NewReader(raw))
	if err != nil {
		return nil, fault.New(fault.InvalidArguments, "not-json", "the arguments are not JSON").Because(err)
	}
	return ast.NewTerm(v), nil
}

// stamp is the time format of decisions: RFC 3339, UTC, milliseconds.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
