# Verdict.
#
# The mode of the document against the level, the threshold and the floor.
package toolwarrant.hitl

import rego.v2

import data.toolwarrant.risk

# METADATA
# title: Required or not, by which rule
# labels:
#   id: hitl-verdict
verdict := _verdict(mode, risk.level, data.toolwarrant.settings.hitl) if {
	mode := object.get(input.tool.humanInTheLoop, "mode", "")
}

# METADATA
# title: The verdict on a mode and a level
# description: The outcomes are constants, which cost nothing to make.
# labels:
#   id: hitl-verdict-of
_verdict(mode, level, settings) := {"mode": "REQUIRED", "source": "rule", "ruleId": first, "autoApproved": false} if {
	first := min({demand.id | some demand in demands})
} else := {"mode": "REQUIRED", "source": "spec", "ruleId": "hitl-required", "autoApproved": false} if {
	mode == "REQUIRED"
} else := {"mode": "REQUIRED", "source": "floor", "ruleId": "hitl-floor", "autoApproved": false} if {
	mode == "DISABLED"
	level >= settings.floor
} else := {"mode": "DISABLED", "source": "spec", "ruleId": "hitl-disabled", "autoApproved": false} if {
	mode == "DISABLED"
} else := {"mode": "REQUIRED", "source": "threshold", "ruleId": "hitl-threshold", "autoApproved": false} if {
	mode == "AUTO_APPROVE"
	level >= settings.threshold
} else := {"mode": "REQUIRED", "source": "floor", "ruleId": "hitl-floor", "autoApproved": false} if {
	mode == "AUTO_APPROVE"
	level >= settings.floor
} else := {"mode": "DISABLED", "source": "spec", "ruleId": "hitl-auto-approve", "autoApproved": true} if {
	mode == "AUTO_APPROVE"
} else := {"mode": "REQUIRED", "source": "rule", "ruleId": "hitl-unknown-mode", "autoApproved": false} if {
	mode != ""
} else := {"mode": "REQUIRED", "source": "default", "ruleId": "hitl-default", "autoApproved": false} if {
	level >= settings.defaultFrom
} else := {"mode": "DISABLED", "source": "default", "ruleId": "hitl-default", "autoApproved": false}
