# METADATA
# title: Human in the loop
# description: |
#   Whether a human has to accept the call, and who may. The branches are
#   tried in order; the first that holds answers. What is not understood
#   requires a human.
package toolwarrant.hitl

import rego.v2

import data.toolwarrant.risk

# METADATA
# title: The requirement
# description: |
#   That of the document is the same for every call of a tool and is not made
#   anew where the installation keeps nothing.
# labels:
#   id: hitl-requirement
requirement := object.union(document_requirement, standing_verdict) if {
	count(input.approvals) > 0
} else := document_requirement

# METADATA
# title: The requirement as the document has it
# labels:
#   id: hitl-document-requirement
document_requirement := object.union(verdict, {
	"prompt": prompt,
	"channels": settings.channels,
	"approvers": approvers,
	"expirySeconds": settings.expirySeconds,
	"outOfBandExpirySeconds": settings.outOfBandExpirySeconds,
}) if {
	settings := data.toolwarrant.settings.hitl
}

# METADATA
# title: The prompt template, led by the level
# description: The executor puts the tool name and the arguments in, in one pass.
# labels:
#   id: hitl-prompt
prompt := sprintf("[risk %s] %s", [risk.level, _template])

_template := template if {
	template := input.tool.humanInTheLoop.promptTemplate
	trim_space(template) != ""
} else := data.toolwarrant.settings.hitl.promptTemplate
