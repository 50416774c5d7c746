package process

// Stats are the workers of a Runtime at one moment.
type Stats struct {
	Busy, Idle, Starting int
	Waiting              int // calls that wait for one
	Most                 int // workers that there may be
}

// Stats gives the numbers as they are now.
func (r *Runtime) Stats() Stats {
	r.mu.Lock()
	defer r.mu.Unlock()
	return Stats{Busy: len(r.busy), Idle: len(r.idle), Starting: r.starting, Waiting: len(r.waiting), Most: r.opts.Workers}
}
