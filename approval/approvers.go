package approval

import (
	"strings"

	"github.com/toolwarrant/toolwarrant/decision"
)

// Acceptable reports whether anybody at all may accept the call: nobody may
// where a second person is required and the caller could be that person too.
func (p Pending) Acceptable() bool {
	return !p.Approvers.FourEyes || !unknown(p)
}

// Needs says in words who may accept the call, "" for anybody. It is for
// those who wait and for those who answer; mayAnswer decides.
func (p Pending) Needs() string {
	if !p.Acceptable() {
		return "a second person, and the caller is not authenticated and could be anybody: it can be denied and not accepted"
	}
	var needs []string
	if p.Approvers.FourEyes {
		needs = append(needs, "a second, authenticated person who is not the caller")
	}
	if len(p.Approvers.Groups) > 0 {
		needs = append(needs, "somebody of one of the groups "+strings.Join(p.Approvers.Groups, ", "))
	}
	return strings.Join(needs, ", ")
}

// MayAccept reports whether the caller's own human may accept a call of
// theirs, under these approvers: so whether it is of use to ask in band.
func MayAccept(caller decision.Principal, who decision.Approvers) bool {
	p := Pending{Approvers: who, Binding: Binding{Principal: caller}}
	return mayAnswer(p, ActionAccept, Approver{Subject: caller.Subject, Method: caller.Method, Groups: caller.Groups}) == nil
}

// unknown reports whether the caller could be anybody.
func unknown(p Pending) bool {
	caller := p.Binding.Principal
	return caller.Untrusted || anonymous(caller.Subject, caller.Method)
}
