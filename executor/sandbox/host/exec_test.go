package host

import (
	"testing"
	"time"
)

// An agent that is killed just as its command ends gets no other command.
func TestFinish(t *testing.T) {
	fired := make(chan struct{})
	late := &ending{why: byTime, last: time.AfterFunc(0, func() { close(fired) })}
	<-fired
	if why, killed := late.finish(); why != byTime || !killed {
		t.Errorf("after the kill: %v, killed %v", why, killed)
	}
	soon := &ending{why: byCaller, last: time.AfterFunc(time.Hour, func() {})}
	if why, killed := soon.finish(); why != byCaller || killed {
		t.Errorf("before the kill: %v, killed %v", why, killed)
	}
	if why, killed := (&ending{}).finish(); why != notEnded || killed {
		t.Errorf("by itself: %v, killed %v", why, killed)
	}
}
