package resolver

import "context"

// ReloadFor is Reload for another Operator: the policy as it stands in its
// place, compiled, tested and put into force for what the operator allows now.
// On an error policy and Operator stay as they were.
func (r *Resolver) ReloadFor(ctx context.Context, op Operator) error {
	r.reload.Lock()
	defer r.reload.Unlock()
	o := r.options
	o.Operator = op
	s, err := readSource(ctx, o)
	if err != nil {
		return err
	}
	e, err := o.activate(ctx, s)
	if err != nil {
		return err
	}
	now := r.active.Load()
	r.options = o
	if e.revision != now.revision {
		r.before.Store(&now.artefact)
	}
	r.active.Store(e)
	return nil
}
