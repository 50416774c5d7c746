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
# labels:
#   id: hitl-requirement
requirement := object.union(verdict, {
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
