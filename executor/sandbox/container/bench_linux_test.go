package container

import (
	"testing"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
)

// BenchmarkCold makes a container, runs a command in it and closes it.
func BenchmarkCold(b *testing.B) {
	f := NewRunc(Options{Agent: agentProgram})
	defer f.Close()
	if a := f.Probe(b.Context()); !a.OK {
		b.Skip(a.Reason)
	}
	for b.Loop() {
		s, err := f.Create(b.Context(), sandbox.Spec{Limits: sandbox.Standard(), AllowPartial: true})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := s.Exec(b.Context(), sandbox.Shell("true")); err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkWarm runs commands in one container.
func BenchmarkWarm(b *testing.B) {
	f := NewRunc(Options{Agent: agentProgram})
	defer f.Close()
	if a := f.Probe(b.Context()); !a.OK {
		b.Skip(a.Reason)
	}
	s, err := f.Create(b.Context(), sandbox.Spec{Limits: sandbox.Standard(), AllowPartial: true})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	for b.Loop() {
		if _, err := s.Exec(b.Context(), sandbox.Shell("true")); err != nil {
			b.Fatal(err)
		}
	}
}
