package sandbox

import (
	"strconv"
	"strings"

	"github.com/toolwarrant/toolwarrant/fault"
)

const reasonSpec = "sandbox-spec"

// The errors of this package and its back ends, for errors.Is. Each that is
// returned has a message of its own, and where it is about a field, a pointer
// into the Spec.
var (
	// ErrSpec: the specification or the command is wrong in itself.
	ErrSpec = fault.New(fault.InvalidInput, reasonSpec, "the sandbox specification is wrong")
	// ErrUnenforceable: the back end cannot enforce what the specification
	// asks for. The cause is an *Unenforceable.
	ErrUnenforceable = fault.New(fault.ResolverReject, "sandbox-unenforceable", "the back end does not enforce what is asked")
	// ErrUnavailable: no back end, or not the one that was named, works here.
	ErrUnavailable = fault.New(fault.RuntimeError, "sandbox-unavailable", "no sandbox works here")
	// ErrImage: the image does not exist here.
	ErrImage = fault.New(fault.InvalidInput, "sandbox-image", "the image is not here")
	// ErrBusy: the sandbox runs another command.
	ErrBusy = fault.New(fault.RuntimeError, "sandbox-busy", "the sandbox runs a command")
	// ErrClosed: the sandbox, the lease or the pool was closed or terminated.
	ErrClosed = fault.New(fault.RuntimeError, "sandbox-closed", "the sandbox is closed")
	// ErrFailed: the sandbox itself broke; the command may have run in part.
	ErrFailed = fault.New(fault.RuntimeError, "sandbox-failed", "the sandbox failed")
	// ErrPoolFull: no instance became free in time.
	ErrPoolFull = fault.New(fault.ResourceLimit, "sandbox-pool-full", "no sandbox of the pool became free in time")
)

// Errorf is an error of the kind of proto, one of the variables above, with a
// message of its own.
func Errorf(proto *fault.Error, format string, args ...any) *fault.Error {
	return fault.New(proto.Code, proto.Reason, format, args...)
}

// Unenforceable is the cause of an ErrUnenforceable, for errors.As.
type Unenforceable struct {
	Backend    string
	Dimensions []Dimension
}

// Error names the dimensions.
func (u *Unenforceable) Error() string {
	names := make([]string, len(u.Dimensions))
	for i, d := range u.Dimensions {
		names[i] = string(d)
	}
	return u.Backend + " does not enforce " + strings.Join(names, ", ")
}

func unenforceable(backend string, short []Dimension, s Spec, have Enforcement) error {
	needs := s.Needs()
	parts := make([]string, len(short))
	for i, d := range short {
		parts[i] = string(d) + " (" + have[d].Level.String() + " of " + needs[d].String()
		if by := have[d].By; by != "" {
			parts[i] += ": " + by
		}
		parts[i] += ")"
	}
	return Errorf(ErrUnenforceable, "the sandbox %s does not enforce here what is asked: %s; use another back end, ask for less, or accept it explicitly (AllowPartial)", backend, strings.Join(parts, ", ")).
		Because(&Unenforceable{Backend: backend, Dimensions: short})
}

func specError(pointer, format string, args ...any) error {
	return Errorf(ErrSpec, format, args...).At("", pointer, 0, 0)
}

func itoa(i int) string { return strconv.Itoa(i) }
