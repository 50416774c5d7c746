package wasm

import (
	"testing"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
)

// slowToDie is a process whose end takes until a test says so.
type slowToDie struct {
	sandbox.Process
	told, die chan struct{}
}

func (p *slowToDie) Kill() error {
	close(p.told)
	<-p.die
	return nil
}

// TestKillAtTheEnd: who ends what runs just as it ends by itself has ended
// that, and not what runs next.
func TestKillAtTheEnd(t *testing.T) {
	p := &slowToDie{told: make(chan struct{}), die: make(chan struct{})}
	s := &server{proc: p, gone: make(chan struct{})}
	b := &box{}
	b.running(s.kill)
	killed := make(chan struct{})
	go func() { b.end(false); close(killed) }()
	<-p.told
	if !s.dead() {
		t.Error("a runner that was told to end would be asked for the next command")
	}
	if b.mu.TryLock() { // as running does, between two commands
		t.Error("the next command can begin while the kill is on its way")
		b.mu.Unlock()
	}
	close(p.die)
	<-killed
	b.running(nil)
	b.end(false) // nothing runs: a second Kill would panic
	if b.over() {
		t.Error("the sandbox is closed")
	}
}
