package resolver

import (
	"fmt"
	"regexp"
	"slices"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/errors"

	"github.com/toolwarrant/toolwarrant/fault"
)

// What the CUE of a policy is held to beside its types. The types lie in the
// folder and may be older, or edited; this does not.

// topFields are all that the layers of a policy consist of.
var topFields = []string{"baseline", "profiles", "bindings"}

// profileName is #ProfileName.
var profileName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,63}$`)

// checkTop refuses a field beside the layers: the top level is open in CUE,
// and "binding" for "bindings" would bind nothing.
func checkTop(root cue.Value) error {
	fields, err := root.Fields(cue.Optional(true))
	if err != nil {
		return err
	}
	for fields.Next() {
		name := fields.Selector().Unquoted()
		if !slices.Contains(topFields, name) {
			return fmt.Errorf("%s: no layer is called %q, so that nothing reads it; the layers are baseline, profiles and bindings, and a field of your own begins with _, as in _shared",
				placeOf(fields.Value()), clip(name))
		}
	}
	return nil
}

func badProfileName(name string, v cue.Value) error {
	return fmt.Errorf("%s: %q is no name of a profile; a name has small letters, digits and -, begins with a letter or a digit, and has at most 64 characters",
		placeOf(v), clip(name))
}

// checkNames refuses profiles that no tool can run under, and bindings to
// such: every tool concerned would be rejected, at its own document. places
// are those of the bindings.
func (l *layers) checkNames(places []string) error {
	for i, b := range l.bindings {
		if l.profiles[b.Profile] == nil {
			return fmt.Errorf("%s: a binding names the profile %q, which does not exist; the policy has %s",
				places[i], b.Profile, quoted(sortedKeys(l.profiles)))
		}
	}
	for _, name := range sortedKeys(l.profiles) {
		if parent := l.profiles[name].extends; parent != "" && l.profiles[parent] == nil {
			return fmt.Errorf("%s: profile %q extends %q, which does not exist; the policy has %s",
				l.position(name, "extends"), name, parent, quoted(sortedKeys(l.profiles)))
		}
	}
	for _, name := range sortedKeys(l.profiles) {
		if _, err := l.chain(name, ""); err != nil {
			return fmt.Errorf("%s: %s", l.position(name, "extends"), fault.From(err).Message)
		}
	}
	return nil
}

// everyField is a view of which nothing is known but its fields. A version
// that has no riskLevel and no category in its shape is older.
const everyField = `{
	allowClasses: _, denyClasses: _
	network: {mode: _, hosts: _, hostsDeny: _, ports: _}
	fileRead: _, fileWrite: _, fsBasePath: _
	maxStatements: _, timeoutSeconds: _, maxMemoryBytes: _, maxOutputBytes: _, maxLogLines: _
}`

// checkOpen refuses constraints that leave no room for the values that they
// do not name, as those of a definition: no tool would satisfy them.
func checkOpen(ctx *cue.Context, l *layer) error {
	if !l.constraints.Exists() {
		return nil
	}
	for _, e := range errors.Errors(l.constraints.Unify(ctx.CompileString(everyField)).Validate()) {
		if format, _ := e.Msg(); format != notAllowed {
			continue
		}
		return fmt.Errorf("%s: the constraints of %s are closed and forbid every value that they do not name, so that no tool satisfies them; take them from a field such as _low, which is open, and not from a definition such as #low",
			placeOf(l.constraints), layerTitle(l))
	}
	return nil
}

// placeOf is where a value is written, as file:line: where a layer says it,
// and not where its shape is.
func placeOf(v cue.Value) string {
	place := ""
	for _, c := range conjuncts(v) {
		if pos := startOf(c); pos.IsValid() && (place == "" || pos.Filename() != shapeFile) {
			place = fmt.Sprintf("%s:%d", pos.Filename(), pos.Line())
			if pos.Filename() != shapeFile {
				break
			}
		}
	}
	if place == "" {
		return "cue"
	}
	return place
}
