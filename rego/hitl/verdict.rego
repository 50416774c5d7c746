# Verdict.
#
# The mode of the document against the level, the threshold and the floor.
#
# How an installation asks for a tool that it cannot edit comes with the
# question, among the approvals, and stands in the place of that mode. Demands,
# the floor and the threshold hold for it as for any other.
package toolwarrant.hitl

import rego.v2

import data.toolwarrant.risk

# METADATA
# title: Required or not, by which rule
# description: |
#   With a demand that is not written as one there is no verdict, and so no
#   decision: a call is refused, never let through for a misspelled rule.
# labels:
#   id: hitl-verdict
verdict := _demanded if {
	count(demands) > 0
} else := _asked(object.get(input.tool.humanInTheLoop, "mode", ""), risk.level) if {
	count(demands) == 0
}

# METADATA
# title: The verdict where something demands a human
# labels:
#   id: hitl-verdict-demanded
_demanded := {"mode": "REQUIRED", "source": "rule", "ruleId": min({demand.id | some demand in demands}), "autoApproved": false} if {
	every demand in demands {
		is_object(demand)
		object.keys(demand) == {"id", "fourEyes"}
		is_string(demand.id)
		is_boolean(demand.fourEyes)
	}
}

# METADATA
# title: The verdict on a mode and a level
# description: |
#   One clause for each mode, which is found by its name. The outcomes are
#   constants, which cost nothing to make.
# labels:
#   id: hitl-verdict-of
_asked("REQUIRED", _) := {"mode": "REQUIRED", "source": "spec", "ruleId": "hitl-required", "autoApproved": false}

_asked("DISABLED", level) := {"mode": "REQUIRED", "source": "floor", "ruleId": "hitl-floor", "autoApproved": false} if {
	level >= data.toolwarrant.settings.hitl.floor
} else := {"mode": "DISABLED", "source": "spec", "ruleId": "hitl-disabled", "autoApproved": false}

_asked("AUTO_APPROVE", level) := {"mode": "REQUIRED", "source": "threshold", "ruleId": "hitl-threshold", "autoApproved": false} if {
	level >= data.toolwarrant.settings.hitl.threshold
} else := {"mode": "REQUIRED", "source": "floor", "ruleId": "hitl-floor", "autoApproved": false} if {
	level >= data.toolwarrant.settings.hitl.floor
} else := {"mode": "DISABLED", "source": "spec", "ruleId": "hitl-auto-approve", "autoApproved": true}

_asked("", level) := {"mode": "REQUIRED", "source": "default", "ruleId": "hitl-default", "autoApproved": false} if {
	level >= data.toolwarrant.settings.hitl.defaultFrom
} else := {"mode": "DISABLED", "source": "default", "ruleId": "hitl-default", "autoApproved": false}

_asked(mode, _) := {"mode": "REQUIRED", "source": "rule", "ruleId": "hitl-unknown-mode", "autoApproved": false} if {
	not mode in {"", "REQUIRED", "DISABLED", "AUTO_APPROVE"}
}

# METADATA
# title: The mode that the installation keeps for the tool
# description: |
#   One that is not said is not understood, and requires a human. Two that
#   differ are an error, which refuses the call.
# labels:
#   id: hitl-standing
standing := object.get(kept, "mode", "") if {
	some kept in input.approvals
	kept.kind == "standing"
}

# METADATA
# title: What of the verdict the installation says
# description: Nothing where it keeps no mode, and where something demands a human.
# labels:
#   id: hitl-standing-verdict
standing_verdict := _installed(_asked(_named_mode, risk.level)) if {
	count(demands) == 0
} else := {}

# METADATA
# title: The mode by a name
# description: An empty one is not the absent one of a document.
# labels:
#   id: hitl-standing-mode
_named_mode := standing if {
	standing != ""
} else := "none" if {
	standing == ""
}

# METADATA
# title: An outcome that is the installation's and not the document's
# labels:
#   id: hitl-installation
_installed(outcome) := object.union(outcome, {"source": "rule", "ruleId": "hitl-installation"}) if {
	outcome.source == "spec"
} else := outcome
