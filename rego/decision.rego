# METADATA
# title: Decision
# description: |
#   The entry point. One object answers one question: may this caller run this
#   tool with these arguments, under which limits, and who has to agree.
#   Every part has to be defined. A part that is not leaves the whole decision
#   undefined, which the engine treats as a refusal. The settings are read as
#   a whole first, so that no rule has to look them up in the store.
package toolwarrant

import rego.v2

import data.toolwarrant.access
import data.toolwarrant.effective
import data.toolwarrant.hitl
import data.toolwarrant.limits
import data.toolwarrant.log
import data.toolwarrant.risk

# METADATA
# title: The decision object
# entrypoint: true
# labels:
#   id: decision
decision := {
	"violations": effective.violations,
	"allow": access.callable,
	"reasons": access.reasons,
	"effectivePolicy": effective.policy,
	"riskLevel": risk.level,
	"riskSignals": risk.signals,
	"humanInTheLoop": hitl.requirement,
	"limits": object.union(limits.rates, limits.shared),
	"isolation": limits.isolation,
	"mask": log.mask,
	"record": log.record,
} if {
	data.toolwarrant.settings
}
