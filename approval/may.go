package approval

// MayAnswer says whether Settle would take that answer of by for p as it is
// now: nil, or the refusal that Settle would give. It changes nothing, so that
// whoever shows a question can say beforehand what may be done with it.
func (g *Gate) MayAnswer(p Pending, action Action, by Approver) error {
	switch {
	case p.State != StatePending:
		return &SettledError{State: p.State}
	case g.expired(p) && action != ActionTimeout:
		return ErrExpired
	}
	return mayAnswer(p, action, by)
}
