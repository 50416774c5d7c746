# The decision the plain way: what a first author would write, and what the
# shipped policy of rego/ is measured against. It answers every input as that
# one does, from the same settings; a test compares them. It is used for
# nothing else.
package toolwarrant

import rego.v2

import data.toolwarrant.access
import data.toolwarrant.effective
import data.toolwarrant.hitl
import data.toolwarrant.limits
import data.toolwarrant.risk

decision := {
	"violations": effective.violations,
	"allow": access.callable,
	"reasons": access.reasons,
	"effectivePolicy": effective.policy,
	"riskLevel": risk.level,
	"riskSignals": risk.signals,
	"humanInTheLoop": hitl.requirement,
	"limits": limits.rates,
	"isolation": limits.isolation,
	"mask": limits.mask,
	"record": limits.record,
}
