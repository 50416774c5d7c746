# Standing.
#
# How an installation asks for a tool that it cannot edit: it comes with the
# question, among the approvals, and stands in the place of the mode of the
# document. Demands, the floor and the threshold hold for it as for any mode.
package toolwarrant.hitl

import rego.v2

import data.toolwarrant.risk

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
