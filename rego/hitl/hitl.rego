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
	"channels": data.toolwarrant.settings.hitl.channels,
	"approvers": data.toolwarrant.settings.hitl.approvers,
	"expirySeconds": data.toolwarrant.settings.hitl.expirySeconds,
	"outOfBandExpirySeconds": data.toolwarrant.settings.hitl.outOfBandExpirySeconds,
})

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
