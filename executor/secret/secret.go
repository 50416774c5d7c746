// Package secret gives tools the values of the ${NAME} placeholders in their
// static variables (Safe Tool Spec section 7.2), and gives the executor the
// list of values that have to be masked (section 7.4).
//
// It owns the secrets file and the order of sources: the file first, then the
// environment of the process. Which names a tool may resolve is policy and
// comes in as a list; this package only refuses more, never less. Values are
// looked up per call and kept nowhere; placeholders are resolved in static
// variables alone, never in what a model sends.
//
// Threat model: a tool author names variables that are not meant for the
// tool (the list of granted names), names of toolwarrant itself (TOOLWARRANT_*,
// refused whatever is granted), or plants a placeholder inside a value (one
// pass only: what was resolved is never looked at again). Another user of the
// machine reads or replaces the file (mode and owner are checked on the open
// handle).
package secret

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolwarrant/toolwarrant/executor/mask"
	"github.com/toolwarrant/toolwarrant/executor/worker"
	"github.com/toolwarrant/toolwarrant/spec"
)

// Reasons of a Missing.
const (
	NotGranted = "not-granted" // the policy does not let this tool have it
	NotSet     = "not-set"     // unset, empty or white space in every source
)

// reserved is the prefix of toolwarrant's own variables.
const reserved = "TOOLWARRANT_"

// placeholder is the grammar of section 7.2.
var placeholder = regexp.MustCompile(`\$\{([A-Z_]+[A-Z0-9_]*)\}`)

// Missing is a placeholder that could not be resolved, and why.
type Missing struct {
	Name   string
	Reason string // NotGranted or NotSet
}

// Resolver resolves placeholders. It is safe for concurrent use.
type Resolver struct {
	file file
	env  func(string) (string, bool)
}

// New makes a Resolver over the secrets file at path ("" = none; a file that
// does not exist holds nothing) and an environment such as os.LookupEnv. The
// file is read when it is first needed and again whenever it changed.
func New(path string, env func(string) (string, bool)) *Resolver {
	if env == nil {
		env = func(string) (string, bool) { return "", false }
	}
	return &Resolver{file: file{path: path}, env: env}
}

// Check reads the secrets file, so that a start can fail early. The error is
// a USAGE fault with reason secrets-permissions, secrets-invalid or
// secrets-unreadable; Resolve and Values fail the same way.
func (r *Resolver) Check() error {
	_, err := r.file.load()
	return err
}

// Resolve resolves every placeholder in statics, embedded ones included, in
// one pass. granted are the exact names that the tool may have.
//
// values are the static variables in their order, each key once (a later
// entry replaces an earlier one, in its place); secrets are the values to mask:
// each resolved placeholder and each whole value that contains one, from
// mask.MinLength characters on. missing lists, sorted by name, what could not
// be resolved; when it is not empty values is nil and the tool must not run,
// but secrets still holds what was found.
func (r *Resolver) Resolve(statics []spec.StaticVariable, granted []string) (values []worker.Static, secrets []string, missing []Missing, err error) {
	entries, err := r.file.load()
	if err != nil {
		return nil, nil, nil, err
	}
	reasons := map[string]string{}
	hide := newCollector()
	at := map[string]int{}
	for _, st := range statics {
		found := false
		value := placeholder.ReplaceAllStringFunc(st.Value, func(ref string) string {
			name := ref[2 : len(ref)-1]
			if !mayResolve(name) || !slices.Contains(granted, name) {
				reasons[name] = NotGranted
				return ref
			}
			v, ok := r.lookup(entries, name)
			if !ok {
				reasons[name] = NotSet
				return ref
			}
			found = true
			hide.add(v)
			return v
		})
		if found {
			hide.add(value)
		}
		if i, ok := at[st.Key]; ok {
			values[i].Value = value
			continue
		}
		at[st.Key] = len(values)
		values = append(values, worker.Static{Name: st.Key, Value: value})
	}
	if len(reasons) == 0 {
		return values, hide.list, nil, nil
	}
	for name, reason := range reasons {
		missing = append(missing, Missing{Name: name, Reason: reason})
	}
	slices.SortFunc(missing, func(a, b Missing) int { return strings.Compare(a.Name, b.Name) })
	return nil, hide.list, missing, nil
}

// Values gives what the named placeholders resolve to, granted or not, for
// masking only: a call that is refused must not show a secret either. Names
// that are unset and names of toolwarrant itself give nothing.
func (r *Resolver) Values(names []string) ([]string, error) {
	entries, err := r.file.load()
	if err != nil {
		return nil, err
	}
	hide := newCollector()
	for _, name := range names {
		if !mayResolve(name) {
			continue
		}
		if v, ok := r.lookup(entries, name); ok {
			hide.add(v)
		}
	}
	return hide.list, nil
}

func mayResolve(name string) bool { return !strings.HasPrefix(name, reserved) }

// lookup is the order of sources. A blank value counts as none, so that a
// blank line in the file does not hide the environment.
func (r *Resolver) lookup(entries map[string]string, name string) (string, bool) {
	if v, ok := entries[name]; ok && strings.TrimSpace(v) != "" {
		return v, true
	}
	if v, ok := r.env(name); ok && strings.TrimSpace(v) != "" {
		return v, true
	}
	return "", false
}

// collector keeps distinct values that are long enough to mask. A value with
// white space around it is also known without: code trims.
type collector struct {
	seen map[string]bool
	list []string
}

func newCollector() *collector { return &collector{seen: map[string]bool{}} }

func (c *collector) add(v string) {
	for _, form := range []string{v, strings.TrimSpace(v)} {
		if utf8.RuneCountInString(form) >= mask.MinLength && !c.seen[form] {
			c.seen[form] = true
			c.list = append(c.list, form)
		}
	}
}
