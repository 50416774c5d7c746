// Package lint finds what is wrong with spec documents before they are
// published, and prints it.
//
// Three kinds of rules meet here: the document itself (the codes of package
// spec), the resolver (asked through a function, so that this package knows no
// policy), and the small document rules of rules.go, TW102 and up. All have
// the same Finding. Nothing is changed and no code is run. Commands and
// services import it; it imports spec, and the pages of docs.
package lint

import (
	"cmp"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/spec"
)

// Severity says what follows from a finding: errors alone make a command
// answer no.
type Severity string

// The severities, worst first.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Info    Severity = "info"
)

// Finding is one defect at one place. Pointer is RFC 6901; an empty one, and a
// zero line or column, means that there is none.
type Finding struct {
	RuleID   string // SPEC_PARSE, SPEC_INVARIANT, RESOLVER_REJECT, or TWnnn
	Severity Severity
	Message  string
	File     string
	Pointer  string
	Line     int // 1-based
	Column   int // 1-based, in bytes
}

// Summary counts what a Report holds. Infos are in neither count.
type Summary struct {
	Errors   int `json:"errors"`
	Warnings int `json:"warnings"`
	Files    int `json:"files"`
}

// Report is the answer of one run, findings in the order of files and lines.
type Report struct {
	Findings []Finding `json:"findings"`
	Summary  Summary   `json:"summary"`

	// What the formats need beside the findings.
	files   []string          // every file that was read
	stdin   []byte            // what "-" was
	texts   map[string][]byte // files that lie on no disk, by name
	titles  map[string]string // of the rules of the policy, by id
	version string

	suppressed   []suppressed
	suppressions []Suppression
}

// OK reports whether no finding is an error.
func (r Report) OK() bool { return r.Summary.Errors == 0 }

// Resolve asks the policy about a valid document: what it refuses (faults of
// code RESOLVER_REJECT) and what it finds noteworthy, with pointers relative
// to the document. A noteworthy finding at /code may have a line and a column,
// which are then those inside the code. Mentions are the names of other tools
// that its texts hold. An error is one of the system: it says nothing about the
// document.
type Resolve func(ctx context.Context, s *spec.Spec, mentions []string) (refused []*fault.Error, noteworthy []Finding, err error)

// Derive gives the toolSafety block that a valid document would be published
// with, nil for one that the policy refuses.
type Derive func(ctx context.Context, s *spec.Spec) (*spec.ToolSafety, error)

// Options say what a run asks beside its own rules.
type Options struct {
	Resolve Resolve // nil leaves the policy out
	Derive  Derive
	Titles  map[string]string // the rules of the policy: id and METADATA title
	Others  []string          // names of tools beside the documents of the run
	Version string            // of this program, for reports
	Now     time.Time         // decides what has expired; zero is the clock
	Stdin   io.Reader         // what "-" names; nil is the standard input
}

// stdinName stands for the standard input in findings.
const stdinName = "<stdin>"

// Run lints the documents at paths: files, bundles, "-", folders with
// spec.json, and every other folder with all that is below it. The error is a USAGE fault for a path that cannot be
// read or holds no document, or a fault of the system that resolve reports.
func Run(ctx context.Context, paths []string, o Options) (Report, error) {
	l, err := load(ctx, paths, o)
	if err != nil {
		return Report{}, err
	}
	return l.report(), nil
}

// load reads and checks every document.
func load(ctx context.Context, paths []string, o Options) (*linter, error) {
	if len(paths) == 0 {
		return nil, fault.New(fault.Usage, "no-path", "name at least one file or folder to check")
	}
	if o.Now.IsZero() {
		o.Now = time.Now()
	}
	if o.Stdin == nil {
		o.Stdin = os.Stdin
	}
	l := &linter{ctx: ctx, options: o, names: map[string]*spec.Spec{}, ids: map[string]*spec.Spec{}}
	seen := map[string]bool{} // what is named twice is no duplicate of itself
	for _, path := range paths {
		targets, err := find(path)
		if err != nil {
			return nil, err
		}
		for _, t := range targets {
			name := filepath.Clean(t)
			if seen[name] {
				continue
			}
			seen[name] = true
			if err := l.load(t); err != nil {
				return nil, err
			}
		}
	}
	if len(l.docs) == 0 { // that nothing was found in nothing is no answer
		return nil, fault.New(fault.Usage, "no-documents", "%s holds no document: its list is empty", paths[0]).At(paths[0], "", 0, 0)
	}
	return l, l.check()
}

// linter is one run.
type linter struct {
	ctx     context.Context
	options Options
	out     []Finding
	files   []string
	stdin   []byte
	specs   []*spec.Spec // the valid documents

	suppressed   []suppressed
	suppressions []Suppression
	refused      bool // the policy refused the document that is being checked

	docs  []spec.Loaded         // in the order in which they were read
	names map[string]*spec.Spec // the first document of a name
	ids   map[string]*spec.Spec
	tools map[string]string // every name, by its lower case
}

// load reads what stands at one path.
func (l *linter) load(path string) error {
	if err := l.cancelled(); err != nil {
		return err
	}
	docs, err := l.read(path)
	l.docs = append(l.docs, docs...)
	return err
}

// check applies the rules, once every document is known.
func (l *linter) check() error {
	l.tools = map[string]string{}
	for _, name := range l.options.Others {
		l.tools[strings.ToLower(name)] = name
	}
	for _, d := range l.docs {
		if d.Spec != nil {
			l.tools[strings.ToLower(d.Spec.Name)] = d.Spec.Name
		}
	}
	for _, d := range l.docs {
		if err := l.cancelled(); err != nil {
			return err
		}
		for _, e := range d.Errors {
			l.fault(e)
		}
		if d.Spec == nil {
			continue
		}
		l.specs = append(l.specs, d.Spec)
		from := len(l.out)
		if err := l.document(d.Spec); err != nil {
			return err
		}
		l.suppress(d.Spec, from)
	}
	return nil
}

func (l *linter) cancelled() error {
	if err := l.ctx.Err(); err != nil {
		return fault.New(fault.Interrupted, "cancelled", "the check was cancelled").Because(err)
	}
	return nil
}

// read loads what stands at path. The standard input is kept, since a report
// shows lines and it cannot be read twice.
func (l *linter) read(path string) ([]spec.Loaded, error) {
	if path != "-" {
		docs, err := spec.Load(path)
		if len(docs) > 0 {
			path = docs[0].File
		}
		l.files = append(l.files, path)
		return docs, err
	}
	data, err := io.ReadAll(io.LimitReader(l.options.Stdin, spec.MaxBundleBytes+1))
	if err != nil {
		return nil, unreadable(stdinName, err)
	}
	l.stdin = data
	l.files = append(l.files, stdinName)
	return spec.LoadBytes(stdinName, data), nil
}

// document applies every rule to one valid document.
func (l *linter) document(s *spec.Spec) error {
	for _, e := range s.CheckCode() {
		l.fault(e)
	}
	for _, r := range rules {
		r.check(s, func(pointer, message string) {
			l.add(s, r.id, r.severity, pointer, message)
		})
	}
	l.duplicates(s)
	l.refused = false
	if l.options.Resolve == nil {
		return nil
	}
	refused, noteworthy, err := l.options.Resolve(l.ctx, s, l.mentions(s))
	if err != nil {
		return err
	}
	l.refused = len(refused) > 0
	for _, e := range refused {
		if e.File == "" {
			e = s.At(e, e.Pointer)
		}
		l.fault(e)
	}
	for _, f := range noteworthy {
		if f.Pointer == "/code" && f.Line > 0 {
			e := s.AtCode(fault.New(fault.SpecInvariant, f.RuleID, "%s", f.Message), f.Line, f.Column)
			l.out = append(l.out, Finding{f.RuleID, f.Severity, e.Message, e.File, e.Pointer, e.Line, e.Column})
			continue
		}
		l.add(s, f.RuleID, f.Severity, f.Pointer, f.Message)
	}
	return nil
}

// duplicates compares with the documents before. They may be drafts, which
// may share a name, so this only warns; a bundle refuses it by itself.
func (l *linter) duplicates(s *spec.Spec) {
	if first := l.names[s.Name]; first != nil {
		l.add(s, "TW106", Warning, "/name", "another tool has the name "+quote(s.Name)+": "+first.File()+"; only one of them can be published")
	} else {
		l.names[s.Name] = s
	}
	if first := l.ids[s.ToolID]; first != nil {
		if first.Name != s.Name { // the toolId of one name is one by derivation
			l.add(s, "TW107", Warning, "/toolId", "another tool has the toolId "+quote(s.ToolID)+": "+first.File())
		}
	} else {
		l.ids[s.ToolID] = s
	}
}

func (l *linter) fault(e *fault.Error) {
	l.out = append(l.out, Finding{string(e.Code), Error, e.Message, e.File, e.Pointer, e.Line, e.Column})
}

func (l *linter) add(s *spec.Spec, id string, sev Severity, pointer, message string) {
	e := s.At(fault.New(fault.SpecInvariant, id, "%s", message), pointer)
	l.out = append(l.out, Finding{id, sev, e.Message, e.File, e.Pointer, e.Line, e.Column})
}

func (l *linter) report() Report {
	// Stable, so that equal places keep the order of the rules. Files keep the
	// order in which they were named.
	order := map[string]int{}
	for _, f := range l.out {
		if _, ok := order[f.File]; !ok {
			order[f.File] = len(order)
		}
	}
	slices.SortStableFunc(l.out, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(order[a.File], order[b.File]), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	r := Report{Findings: l.out, files: l.files, stdin: l.stdin, titles: l.options.Titles, version: l.options.Version,
		suppressed: l.suppressed, suppressions: l.suppressions}
	r.count()
	return r
}
