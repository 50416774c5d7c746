package main

import (
	"io"
	"sync"
)

// patientWriter takes at once what it is given and writes it to another writer
// at that one's pace, in a goroutine of its own: who pipes the output of a
// command into a slow reader loses nothing of it. What it keeps is bounded by
// who writes to it.
type patientWriter struct {
	to io.Writer

	mu    sync.Mutex
	more  *sync.Cond
	kept  []byte
	ended bool
	done  chan struct{}
}

func newPatientWriter(to io.Writer) *patientWriter {
	p := &patientWriter{to: to, done: make(chan struct{})}
	p.more = sync.NewCond(&p.mu)
	go p.run()
	return p
}

// Write never fails and does not keep b.
func (p *patientWriter) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.kept = append(p.kept, b...)
	p.more.Signal()
	return len(b), nil
}

func (p *patientWriter) run() {
	defer close(p.done)
	for {
		p.mu.Lock()
		for len(p.kept) == 0 && !p.ended {
			p.more.Wait()
		}
		b := p.kept
		p.kept = nil
		p.mu.Unlock()
		if len(b) == 0 {
			return
		}
		if _, err := p.to.Write(b); err != nil {
			return // the reader is gone
		}
	}
}

// flush waits until all is written, or the reader is gone.
func (p *patientWriter) flush() {
	p.mu.Lock()
	p.ended = true
	p.more.Signal()
	p.mu.Unlock()
	<-p.done
}
