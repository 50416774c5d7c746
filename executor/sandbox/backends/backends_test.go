package backends_test

import (
	"slices"
	"testing"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/backends"
)

func TestAll(t *testing.T) {
	all := backends.All(backends.Options{})
	defer all.Close()
	for _, id := range all.IDs() {
		one := backends.All(backends.Options{Only: []string{id, "no-such"}})
		if got := one.IDs(); !slices.Equal(got, []string{id}) {
			t.Errorf("only %s gives %v", id, got)
		}
		one.Close()
	}
	none := backends.All(backends.Options{Only: []string{}})
	defer none.Close()
	if got := none.IDs(); len(got) != 0 {
		t.Errorf("none gives %v", got)
	}
}

// TestPreferred runs a command in what is preferred here, if anything is.
func TestPreferred(t *testing.T) {
	all := backends.All(backends.Options{})
	defer all.Close()
	spec := sandbox.Spec{Limits: sandbox.Standard(), AllowPartial: true}
	sb, err := all.Create(t.Context(), "", spec)
	if err != nil {
		t.Skip("nothing works here: ", err)
	}
	defer sb.Close()
	r, err := sb.Exec(t.Context(), sandbox.Shell("echo $HOME"))
	if err != nil || string(r.Stdout) != "/scratch\n" {
		t.Errorf("%s: %v %+v %s", sb.Backend(), err, r, r.Stdout)
	}
}

// TestProbes says what there is here: a reason for each that does not work,
// and by what each that does enforces what it says.
func TestProbes(t *testing.T) {
	all := backends.All(backends.Options{})
	defer all.Close()
	for _, p := range all.Probe(t.Context()) {
		t.Logf("%-10s %3d %v %v %s", p.ID, p.Priority, p.OK, p.Took, p.Reason)
		switch {
		case !p.OK && p.Reason == "":
			t.Errorf("%s does not work, and does not say why", p.ID)
		case p.OK:
			for _, d := range sandbox.Dimensions() {
				if s := p.Enforcement[d]; s.Level != sandbox.None && s.By == "" {
					t.Errorf("%s does not say how it enforces %s", p.ID, d)
				}
			}
		}
	}
}
