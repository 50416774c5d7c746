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
verdict := _required("rule", "hitl-operator-rule") if {
	_operator_requires
} else := _required("spec", "hitl-required") if {
	_mode == "REQUIRED"
} else := _required("floor", "hitl-floor") if {
	_mode == "DISABLED"
	risk.level >= data.toolwarrant.settings.hitl.floor
} else := _disabled("spec", "hitl-disabled", false) if {
	_mode == "DISABLED"
} else := _required("threshold", "hitl-threshold") if {
	_mode == "AUTO_APPROVE"
	risk.level >= data.toolwarrant.settings.hitl.threshold
} else := _required("floor", "hitl-floor") if {
	_mode == "AUTO_APPROVE"
	risk.level >= data.toolwarrant.settings.hitl.floor
} else := _disabled("spec", "hitl-auto-approve", true) if {
	_mode == "AUTO_APPROVE"
} else := _required("rule", "hitl-unknown-mode") if {
	_mode != ""
} else := _required("default", "hitl-default") if {
	risk.level >= data.toolwarrant.settings.hitl.defaultFrom
} else := _disabled("default", "hitl-default", false)

# METADATA
# title: The mode of the document, empty when absent
# labels:
#   id: hitl-mode
_mode := object.get(input.tool.humanInTheLoop, "mode", "")

# METADATA
# title: The operator always asks for this tool
# labels:
#   id: hitl-operator-rule
_operator_requires if input.tool.name in data.toolwarrant.settings.hitl.requiredTools

_operator_requires if input.tool.toolId in data.toolwarrant.settings.hitl.requiredTools

_operator_requires if input.tool.category in data.toolwarrant.settings.hitl.requiredCategories

_required(source, rule) := {"mode": "REQUIRED", "source": source, "ruleId": rule, "autoApproved": false}

_disabled(source, rule, auto) := {"mode": "DISABLED", "source": source, "ruleId": rule, "autoApproved": auto}
