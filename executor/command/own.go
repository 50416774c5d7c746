package command

import (
	"cmp"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/executor/sandbox"
	"github.com/toolwarrant/toolwarrant/fault"
)

// grace is what of the time of a call its own start may have taken.
const grace = time.Second

// Own is what whoever is at the terminal of the installation adds to a command
// of his own. It is of no use to a caller over the network. A nil *Own adds
// nothing.
type Own struct {
	Backend string          // of those that the policy allows; "" = the strongest
	Image   string          // "" = that of the policy
	Mounts  []sandbox.Mount // beside that of the policy
	// Limits and Timeout are what is asked for; 0 = what the policy gives. More
	// than that is refused, since the command would run under less.
	Limits  decision.SandboxLimits
	Timeout time.Duration
	// AllowPartial accepts that less is enforced than is asked; the record says
	// what.
	AllowPartial bool
	// Stdout and Stderr get the output as it comes, masked. nil = nobody does.
	Stdout, Stderr io.Writer
}

func (o *Own) add(s *sandbox.Spec, fs decision.FS) error {
	if o == nil {
		return nil
	}
	for _, m := range o.Mounts {
		if !fs.Read || m.Writable && !fs.Write {
			return fault.New(fault.PolicyDenied, "sandbox-mount", "the policy does not let a command see, or change, folders: %s; mount it read-only, or give the tool more by a profile", m.Target)
		}
	}
	var over []string
	for _, l := range []struct {
		name         string
		asked, given int64
	}{
		{"processors", o.Limits.CPUMillis, int64(s.Limits.CPUShares * 1000)}, {"memory", o.Limits.MemoryMB, int64(s.Limits.MemoryMB)},
		{"disk", o.Limits.DiskMB, int64(s.Limits.DiskMB)}, {"processes", o.Limits.MaxProcesses, int64(s.Limits.MaxProcesses)},
		{"time", int64((o.Timeout - grace) / time.Second), int64(s.Limits.Timeout / time.Second)},
	} {
		if l.asked > l.given {
			over = append(over, l.name+" ("+strconv.FormatInt(l.given, 10)+" and not "+strconv.FormatInt(l.asked, 10)+")")
		}
	}
	if len(over) > 0 {
		return fault.New(fault.PolicyDenied, "sandbox-limits", "the policy gives less than was asked for: %s; ask for less, or give the tool more by a profile and sandbox.rules of the policy", strings.Join(over, ", "))
	}
	s.Image = cmp.Or(o.Image, s.Image)
	s.Mounts = append(s.Mounts, o.Mounts...)
	s.AllowPartial = s.AllowPartial || o.AllowPartial
	return nil
}

func (o *Own) backend() string {
	if o == nil {
		return ""
	}
	return o.Backend
}
