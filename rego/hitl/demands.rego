# Demands.
#
# What asks for a human whatever the tool says and however low its level is.
# Rules of an installation add to the set, by the tool, the caller, the
# arguments or the time. A demand can only tighten: none lifts another.
package toolwarrant.hitl

import rego.v2

# METADATA
# title: The operator always asks for this tool
# labels:
#   id: hitl-operator-rule
demands contains {"id": "hitl-operator-rule", "fourEyes": false} if {
	some id in data.toolwarrant.settings.hitl.requiredTools
	id in {input.tool.name, input.tool.toolId}
}

demands contains {"id": "hitl-operator-rule", "fourEyes": false} if {
	input.tool.category in data.toolwarrant.settings.hitl.requiredCategories
}

# METADATA
# title: Who may approve
# description: With fourEyes in any demand, nobody approves a call of their own.
# labels:
#   id: hitl-approvers
approvers := {"groups": data.toolwarrant.settings.hitl.approvers.groups, "fourEyes": true} if {
	some demand in demands
	demand.fourEyes
} else := data.toolwarrant.settings.hitl.approvers
