package resolver

import (
	"fmt"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/build"
	"cuelang.org/go/cue/cuecontext"
	"cuelang.org/go/cue/parser"

	"github.com/toolwarrant/toolwarrant/fault"
)

// layer is one layer of values. A nil field is not stated. Names of authors
// never become CUE labels: labels are kept for the life of the process.
type layer struct {
	name string // "baseline", or the name of the profile

	AllowClasses   []string
	DenyClasses    []string
	Mode           *string
	Hosts          []string
	HostsDeny      []string
	Ports          []int
	FileRead       *bool
	FileWrite      *bool
	MaxStatements  *int64
	TimeoutSeconds *int64
	MaxMemoryBytes *int64
	MaxOutputBytes *int64
	MaxLogLines    *int64

	extends     string
	constraints cue.Value // does not exist where the layer states none
}

// binding is one line of the operator's mapping; empty selectors match any.
type binding struct {
	Profile, ToolID, Name, Category, Tag, Group string
}

// layers are the CUE sources of a policy, read once per revision. The CUE
// context belongs to them: it goes when the revision goes.
type layers struct {
	ctx      *cue.Context
	files    map[string]*ast.File
	baseline *layer
	profiles map[string]*layer
	bindings []binding
	records  bool     // the settings ask for the part "record" of a decision
	hides    bool     // the settings keep arguments out of the log
	at       []string // where each binding names its category, as file:line
}

func cueFault(policy, format string, args ...any) *fault.Error {
	return fault.New(fault.PolicyUnavailable, "policy-cue", "the policy %s: %s", policy, fmt.Sprintf(format, args...))
}

// loadLayers parses, types and closes baseline, profiles, bindings and the
// settings of the Rego part.
func loadLayers(s *source) (*layers, error) {
	l := &layers{ctx: cuecontext.New(), files: map[string]*ast.File{}, profiles: map[string]*layer{}}
	inst := build.NewContext().NewInstance("", nil)
	for _, name := range sortedKeys(s.cue) {
		f, err := parser.ParseFile(name, s.cue[name], parser.ParseComments)
		if err != nil {
			return nil, cueFault(s.name, "%s", oneLine(err)).Because(err)
		}
		if err := inst.AddSyntax(f); err != nil {
			return nil, cueFault(s.name, "%s", oneLine(err)).Because(err)
		}
		l.files[name] = f
	}
	if err := inst.Complete(); err != nil {
		return nil, cueFault(s.name, "%s", oneLine(err)).Because(err)
	}
	root := l.ctx.BuildInstance(inst)
	if err := root.Validate(); err != nil {
		return nil, cueFault(s.name, "%s", oneLine(err)).Because(err)
	}
	if err := checkTop(root); err != nil {
		return nil, cueFault(s.name, "%s", oneLine(err)).Because(err)
	}
	if err := l.readAll(root); err != nil {
		return nil, cueFault(s.name, "%s", oneLine(err)).Because(err)
	}
	return l, l.checkSettings(s, root)
}

func (l *layers) readAll(root cue.Value) error {
	var err error
	if l.baseline, err = readLayer(l.ctx, "baseline", root.LookupPath(cue.ParsePath("baseline"))); err != nil {
		return err
	}
	if l.baseline.Mode == nil || l.baseline.FileRead == nil || l.baseline.MaxStatements == nil {
		return fmt.Errorf("cue/baseline.cue does not state every value")
	}
	profiles, err := root.LookupPath(cue.ParsePath("profiles")).Fields()
	if err != nil {
		return err
	}
	for profiles.Next() {
		name := profiles.Selector().Unquoted()
		if !profileName.MatchString(name) {
			return badProfileName(name, profiles.Value())
		}
		if l.profiles[name], err = readLayer(l.ctx, name, profiles.Value()); err != nil {
			return err
		}
	}
	list, err := root.LookupPath(cue.ParsePath("bindings")).List()
	if err != nil {
		return err
	}
	var places []string // of l.bindings
	for list.Next() {
		var b struct {
			Profile  string `json:"profile"`
			ToolID   string `json:"toolId"`
			Name     string `json:"name"`
			Category string `json:"category"`
			Tag      string `json:"tag"`
			Group    string `json:"group"`
		}
		if err := list.Value().Decode(&b); err != nil {
			return err
		}
		l.bindings = append(l.bindings, binding(b))
		places = append(places, placeOf(list.Value().LookupPath(cue.ParsePath("profile"))))
		l.at = append(l.at, placeOf(list.Value().LookupPath(cue.ParsePath("category"))))
	}
	return l.checkNames(places)
}

// fields are where the values of a layer are kept, by their paths in CUE.
func (l *layer) fields() map[string]any {
	return map[string]any{
		"allowClasses": &l.AllowClasses, "denyClasses": &l.DenyClasses,
		"network.mode": &l.Mode, "network.hosts": &l.Hosts, "network.hostsDeny": &l.HostsDeny, "network.ports": &l.Ports,
		"fileRead": &l.FileRead, "fileWrite": &l.FileWrite,
		"maxStatements": &l.MaxStatements, "timeoutSeconds": &l.TimeoutSeconds,
		"maxMemoryBytes": &l.MaxMemoryBytes, "maxOutputBytes": &l.MaxOutputBytes, "maxLogLines": &l.MaxLogLines,
		"extends": &l.extends,
	}
}

// readLayer takes the values of a layer; its constraints stay CUE.
func readLayer(ctx *cue.Context, name string, v cue.Value) (*layer, error) {
	l := &layer{name: name, constraints: v.LookupPath(cue.ParsePath("constraints"))}
	for path, into := range l.fields() {
		field := v.LookupPath(cue.ParsePath(path))
		if !field.Exists() {
			continue
		}
		if err := field.Validate(cue.Concrete(true)); err != nil {
			return nil, err
		}
		if err := field.Decode(into); err != nil {
			return nil, err
		}
	}
	if noCeiling(ctx, l.constraints) {
		return nil, fmt.Errorf("the constraint on riskLevel of %s forbids no level; the levels are L0 to L5, as in <=\"L3\"", layerTitle(l))
	}
	if err := checkOpen(ctx, l); err != nil {
		return nil, err
	}
	lower(l.Hosts)
	lower(l.HostsDeny)
	return l, nil
}

// find gives the field at a path in the syntax of a file, or nil.
func find(decls []ast.Decl, path []string) *ast.Field {
	for _, d := range decls {
		if c, ok := d.(*ast.Comprehension); ok { // if ... { }
			for _, s := range structs(c.Value) {
				if found := find(s.Elts, path); found != nil {
					return found
				}
			}
		}
		f, ok := d.(*ast.Field)
		if !ok {
			continue
		}
		name, _, err := ast.LabelName(f.Label)
		if err != nil || name != path[0] {
			continue
		}
		if len(path) == 1 {
			return f
		}
		for _, s := range structs(f.Value) {
			if found := find(s.Elts, path[1:]); found != nil {
				return found
			}
		}
	}
	return nil
}

// structs are the struct literals of an expression, also where "&" joins them.
func structs(e ast.Expr) []*ast.StructLit {
	switch e := e.(type) {
	case *ast.StructLit:
		return []*ast.StructLit{e}
	case *ast.BinaryExpr:
		return append(structs(e.X), structs(e.Y)...)
	case *ast.ParenExpr:
		return structs(e.X)
	}
	return nil
}

// field finds where a layer states something: the field and its file.
func (l *layers) field(layerName string, path ...string) (*ast.Field, string) {
	prefix := []string{"profiles", layerName}
	if layerName == "baseline" {
		prefix = []string{"baseline"}
	}
	full := append(prefix, path...)
	for _, name := range sortedKeys(l.files) {
		if f := find(l.files[name].Decls, full); f != nil {
			return f, name
		}
	}
	return nil, ""
}

// position is where a layer states something, as file:line, or the layer name.
func (l *layers) position(layerName string, path ...string) string {
	for n := len(path); n >= 0; n-- {
		if f, name := l.field(layerName, path[:n]...); f != nil {
			return fmt.Sprintf("%s:%d", name, f.Pos().Line())
		}
	}
	return layerName
}

// lower writes host names the way they are compared.
func lower(hosts []string) {
	for i, h := range hosts {
		hosts[i] = strings.TrimSuffix(strings.ToLower(h), ".")
	}
}
