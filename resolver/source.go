package resolver

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	policycue "github.com/toolwarrant/toolwarrant/cue"
	"github.com/toolwarrant/toolwarrant/fault"
	policytest "github.com/toolwarrant/toolwarrant/policy_test"
	policyrego "github.com/toolwarrant/toolwarrant/rego"
	"github.com/toolwarrant/toolwarrant/schemas"
)

// Limits on a policy folder, so that a wrong path is an error and not a scan
// of a disk.
const (
	maxPolicyFiles = 2000
	maxPolicyBytes = 16 << 20
)

// source is the text of one policy: what the revision names, and the tests.
type source struct {
	name  string            // the folder, or Builtin
	rego  map[string][]byte // "rego/risk/level.rego" -> text
	data  []byte            // rego/data.json
	cue   map[string][]byte // "cue/baseline.cue" -> text
	tests map[string][]byte // "policy_test/risk/table_test.rego" -> text

	capabilities     *ast.Capabilities // what the Rego may use
	capabilitiesText []byte
	bundle           *Bundle // where it came from one
}

// readSource reads a policy, wherever it lies: every way to a policy leads
// through here.
func readSource(ctx context.Context, o Options) (*source, error) {
	policy := o.Policy
	if o.Fetch != nil {
		raw, err := o.Fetch(ctx)
		if err != nil {
			return nil, err
		}
		return readBundle(policy, raw, o.Trust)
	}
	if policy == "" || policy == Builtin {
		return assemble(Builtin, map[string]fs.FS{
			"rego": policyrego.FS, "cue": policycue.FS, "policy_test": policytest.FS,
		})
	}
	info, err := os.Stat(policy)
	if err == nil && !info.IsDir() {
		raw, err := readBundleFile(policy)
		if err != nil {
			return nil, err
		}
		return readBundle(policy, raw, o.Trust)
	}
	if err == nil { // what is not there is missing, and not untrusted
		if err := o.Trust.admitsFolder(policy); err != nil {
			return nil, err
		}
	}
	if _, err := os.Stat(policy); errors.Is(err, fs.ErrNotExist) {
		return nil, fault.New(fault.PolicyUnavailable, "policy-missing",
			"there is no policy folder and no bundle %s%s; \"toolwarrant policy init DIR\" writes a folder, \"toolwarrant policy bundle\" makes a bundle of one", policy, below(policy)).Because(err)
	}
	parts := map[string]fs.FS{}
	for _, part := range []string{"rego", "cue", "policy_test"} {
		dir := filepath.Join(policy, part)
		info, err := os.Stat(dir)
		if err != nil || !info.IsDir() {
			return nil, fault.New(fault.PolicyUnavailable, "policy-missing",
				"the policy folder %s has no folder %s; \"toolwarrant policy init DIR\" writes a complete one", policy, part).Because(err)
		}
		parts[part] = os.DirFS(dir)
	}
	return assemble(policy, parts)
}

func newSource(name string) *source {
	return &source{name: name, rego: map[string][]byte{}, cue: map[string][]byte{}, tests: map[string][]byte{}}
}

// assemble sorts the files of a policy by what they are. Files that no policy
// consists of are passed over; those that look like policy and would have no
// effect are errors.
func assemble(name string, parts map[string]fs.FS) (*source, error) {
	s := newSource(name)
	var err error
	if s.capabilities, s.capabilitiesText, err = ownCapabilities(); err != nil {
		return nil, err
	}
	files, size := 0, 0
	for part, fsys := range parts {
		err := fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() {
				if p != "." && strings.HasPrefix(d.Name(), ".") {
					return fs.SkipDir
				}
				return nil
			}
			if err := noFolderLink(fsys, part, p, d); err != nil {
				return err
			}
			where := s.place(part, p)
			if where == nil {
				return nil
			}
			text, err := fs.ReadFile(fsys, p)
			if err != nil {
				return err
			}
			files, size = files+1, size+len(text)
			if files > maxPolicyFiles || size > maxPolicyBytes {
				return fault.New(fault.PolicyUnavailable, "policy-too-large",
					"the policy %s has more than %d files or %d MiB; name the folder that holds rego, cue and policy_test", name, maxPolicyFiles, maxPolicyBytes>>20)
			}
			return where(path.Join(part, p), text)
		})
		var refused *fault.Error
		if errors.As(err, &refused) {
			return nil, refused
		}
		if err != nil {
			return nil, fault.New(fault.PolicyUnavailable, "policy-missing", "the policy %s cannot be read", name).Because(err)
		}
	}
	return s, s.complete()
}

// complete refuses a policy that lacks a part.
func (s *source) complete() error {
	if len(s.rego) == 0 || s.data == nil || len(s.cue) == 0 {
		return fault.New(fault.PolicyUnavailable, "policy-missing",
			"the policy %s needs Rego modules and data.json under rego, and baseline.cue under cue", s.name)
	}
	return nil
}

// place says where a file of a part goes; nil passes it over.
func (s *source) place(part, p string) func(string, []byte) error {
	into := func(m map[string][]byte) func(string, []byte) error {
		return func(name string, text []byte) error { m[name] = text; return nil }
	}
	ext := path.Ext(p)
	switch {
	case part == "policy_test" && ext == ".rego", part == "rego" && strings.HasSuffix(p, "_test.rego"):
		return into(s.tests)
	case part == "rego" && ext == ".rego":
		return into(s.rego)
	case part == "rego" && p == "data.json":
		return func(_ string, text []byte) error { s.data = text; return nil }
	case part == "cue" && ext == ".cue" && isPolicyCUE(p):
		return into(s.cue)
	}
	return misplaced(part, p)
}

// isPolicyCUE separates the policy from the formats that may lie beside it.
func isPolicyCUE(p string) bool {
	return p == "policy.cue" || p == "baseline.cue" || p == "bindings.cue" || path.Dir(p) == "profiles"
}

// revision names the content: SHA-256 over sorted (path, content digest) of
// modules, settings, CUE sources and capabilities. Tests are not part of it.
func (s *source) revision() string {
	parts := map[string][]byte{"rego/data.json": s.data, "capabilities": s.capabilitiesText}
	for name, text := range s.rego {
		parts[name] = text
	}
	for name, text := range s.cue {
		parts[name] = text
	}
	h := sha256.New()
	for _, name := range sortedKeys(parts) {
		sum := sha256.Sum256(parts[name])
		h.Write([]byte(name + "\x00" + hex.EncodeToString(sum[:]) + "\n"))
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

// testDigest names the tests, so that a reload runs them again when they alone
// have changed.
func (s *source) testDigest() string {
	h := sha256.New()
	for _, name := range sortedKeys(s.tests) {
		sum := sha256.Sum256(s.tests[name])
		h.Write([]byte(name + "\x00" + hex.EncodeToString(sum[:]) + "\n"))
	}
	return hex.EncodeToString(h.Sum(nil))
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// WriteBuiltin writes the embedded policy into dir, which has to be absent or
// empty: rego, cue and policy_test, ready to be edited and tested, and the
// schema of the input, with which OPA and editors find misspelled fields.
func WriteBuiltin(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fault.New(fault.Usage, "path-unreadable", "%s cannot be read as a folder", dir).Because(err)
	}
	if len(entries) > 0 {
		return fault.New(fault.Usage, "folder-not-empty", "%s is not empty; name a new folder", dir)
	}
	s, err := readSource(context.Background(), Options{})
	if err != nil {
		return err
	}
	module, err := policycue.FS.ReadFile("cue.mod/module.cue")
	if err != nil {
		return fault.New(fault.Internal, "embedded-policy", "the embedded policy lacks its CUE module").Because(err)
	}
	input, err := schemas.FS.ReadFile("input.json")
	if err != nil {
		return fault.New(fault.Internal, "embedded-policy", "the embedded schema of the policy input is missing").Because(err)
	}
	out := map[string][]byte{"rego/data.json": s.data, "cue/cue.mod/module.cue": module, "schemas/input.json": input}
	for _, m := range []map[string][]byte{s.rego, s.cue, s.tests} {
		for name, text := range m {
			out[name] = text
		}
	}
	for _, name := range sortedKeys(out) {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return fault.New(fault.Usage, "path-unwritable", "%s cannot be created", filepath.Dir(file)).Because(err)
		}
		if err := os.WriteFile(file, out[name], 0o644); err != nil {
			return fault.New(fault.Usage, "path-unwritable", "%s cannot be written", file).Because(err)
		}
	}
	return nil
}

// below says where a relative path begins, for an error.
func below(path string) string {
	dir, err := os.Getwd()
	if err != nil || filepath.IsAbs(path) {
		return ""
	}
	return " in " + dir
}
