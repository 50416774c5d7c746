package resolver

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// Text is a policy as it is written, before anything is compiled: what a
// linter of policies reads. Files have their path inside the policy, such as
// "rego/risk/level.rego".
type Text struct {
	Name  string // the folder, file or URL, or Builtin
	Dir   string // the folder that holds the files, "" where they lie in a bundle or in the program
	Rego  map[string][]byte
	Data  []byte // rego/data.json
	CUE   map[string][]byte
	Tests map[string][]byte

	source *source
	layers *layers // once read
}

// ReadText reads a policy from wherever it lies, under the same checks of
// trust and size as one that is put into force.
func ReadText(ctx context.Context, o Options) (*Text, error) {
	s, err := readSource(ctx, o)
	if err != nil {
		return nil, err
	}
	t := &Text{Name: s.name, Rego: s.rego, Data: s.data, CUE: s.cue, Tests: s.tests, source: s}
	if s.bundle == nil && s.name != Builtin {
		t.Dir = s.name
	}
	return t, nil
}

// Builtins are the names of the builtins that the Rego of the policy may use.
func (t *Text) Builtins() map[string]bool {
	out := map[string]bool{}
	for _, b := range t.source.capabilities.Builtins {
		out[b.Name] = true
	}
	return out
}

// Wide is a rule of the policy that a list of tools asks, and that reads of a
// tool what no two tools have in common: its answer for one tells nothing of
// the others, so that the list takes as long as all of them.
type Wide struct {
	File string
	Line int
	Ref  string // what it reads, as in input.tool.code
}

// Compiles says why the policy could not be put into force, its own tests
// aside; nil if it could. Then it gives the rules that lists cannot share.
func (t *Text) Compiles(ctx context.Context, o Operator) ([]Wide, error) {
	e, err := newEngine(ctx, t.source, o)
	if err != nil {
		return nil, err
	}
	return e.program.wide(), nil
}

// Stated is what one layer states, and where. A field that it does not state
// has its zero value.
type Stated struct {
	Name         string // "baseline", or the name of the profile
	AllowClasses []string
	DenyClasses  []string
	Mode         string
	Hosts        []string
	FileWrite    bool

	layers *layers
}

// load reads the layers once. A Text is for one goroutine.
func (t *Text) load() (*layers, error) {
	if t.layers != nil {
		return t.layers, nil
	}
	l, err := loadLayers(t.source)
	if err == nil {
		t.layers = l
	}
	return l, err
}

// Bound is a binding of the policy that is about one category.
type Bound struct {
	Category, Profile string
	File              string
	Line              int // 0 = unknown
}

// Bindings gives the bindings that name a category, in their order.
func (t *Text) Bindings() ([]Bound, error) {
	l, err := t.load()
	if err != nil {
		return nil, err
	}
	var out []Bound
	for i, b := range l.bindings {
		if b.Category == "" {
			continue
		}
		file, line, _ := strings.Cut(l.at[i], ":")
		n, _ := strconv.Atoi(line)
		out = append(out, Bound{b.Category, b.Profile, file, n})
	}
	return out, nil
}

// Layers gives the baseline and then the profiles, by name.
func (t *Text) Layers() ([]Stated, error) {
	l, err := t.load()
	if err != nil {
		return nil, err
	}
	all := []*layer{l.baseline}
	for _, name := range sortedKeys(l.profiles) {
		all = append(all, l.profiles[name])
	}
	out := make([]Stated, len(all))
	for i, one := range all {
		out[i] = Stated{Name: one.name, AllowClasses: slices.Clone(one.AllowClasses), DenyClasses: slices.Clone(one.DenyClasses),
			Hosts: slices.Clone(one.Hosts), layers: l}
		if one.Mode != nil {
			out[i].Mode = *one.Mode
		}
		if one.FileWrite != nil {
			out[i].FileWrite = *one.FileWrite
		}
	}
	return out, nil
}

// Place is where the layer states the value at a path, or the nearest thing
// around it that is written; line 0 = unknown.
func (s Stated) Place(path ...string) (file string, line, column int) {
	for n := len(path); n >= 0; n-- {
		if f, name := s.layers.field(s.Name, path[:n]...); f != nil {
			return name, f.Pos().Line(), f.Pos().Column()
		}
	}
	return "cue/baseline.cue", 0, 0
}

// ImportsV2 reports whether a module has the negation that policies are
// written for.
func ImportsV2(m *ast.Module) bool { return importsV2(m) }
