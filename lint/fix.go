package lint

import (
	"bytes"
	"context"
	"io"
	"slices"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/spec"
)

// Fix is a document that can be put into the form in which documents are kept
// without changing what its tool is: order of members, toolId, defaults, and a
// stored posture that no longer fits the code or the policy.
type Fix struct {
	File string
	old  *spec.Spec
	new  *spec.Spec
}

// ofPosture are the findings of the policy that a fresh toolSafety block
// settles.
var ofPosture = []string{"helper-unlisted", "helper-unused", "safety-stale"}

// Fixes gives the documents at paths that differ from their tidy form. Nothing
// is written. A document that is not valid is left alone, since what is meant is
// not known; unread reports those, and has no finding where there are none.
func Fixes(ctx context.Context, paths []string, o Options) (out []Fix, unread Report, err error) {
	l, err := load(ctx, paths, o)
	if err != nil {
		return nil, Report{}, err
	}
	for _, s := range l.specs {
		var posture *spec.ToolSafety
		if l.staleIn(s) && o.Derive != nil {
			if posture, err = o.Derive(ctx, s); err != nil {
				return nil, Report{}, err
			}
		}
		// The source is what the author's catalog calls itself; linting knows
		// no catalog.
		if posture != nil && s.ToolSafety.Category.Source != "" {
			posture.Category.Source = s.ToolSafety.Category.Source
		}
		tidy, e := s.Tidy(posture)
		if e != nil {
			return nil, Report{}, e
		}
		if !bytes.Equal(tidy.Bytes(), s.Bytes()) {
			out = append(out, Fix{s.File(), s, tidy})
		}
	}
	return out, l.unread(), nil
}

// unread reports the documents that could not be read as such.
func (l *linter) unread() Report {
	only := &linter{options: l.options, files: l.files, stdin: l.stdin}
	for _, d := range l.docs {
		if d.Spec != nil {
			continue
		}
		for _, e := range d.Errors {
			only.fault(e)
		}
	}
	return only.report()
}

// staleIn reports whether a finding about the stored posture stands in s.
func (l *linter) staleIn(s *spec.Spec) bool {
	pointer := s.Pointer() + "/toolSafety"
	return s.ToolSafety != nil && slices.ContainsFunc(l.out, func(f Finding) bool {
		return f.File == s.File() && slices.Contains(ofPosture, f.RuleID) && (f.Pointer == pointer || len(f.Pointer) > len(pointer) && f.Pointer[:len(pointer)+1] == pointer+"/")
	})
}

// Apply writes the document to its file in one atomic step.
func (f Fix) Apply() error {
	if f.File == stdinName {
		return fault.New(fault.Usage, "stdin", "what comes from the standard input cannot be fixed in place; use --diff")
	}
	return f.new.Save(f.File)
}

// Diff writes the change as a unified diff.
func (f Fix) Diff(w io.Writer) error {
	name := f.File
	if p := f.old.Pointer(); p != "" {
		name += "#" + p
	}
	_, err := w.Write(diff.Diff("a/"+visible(name), f.old.Bytes(), "b/"+visible(name), f.new.Bytes()))
	return err
}
