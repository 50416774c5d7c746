# Whether a human has to agree, and who may.
package toolwarrant.hitl

import rego.v2

import data.toolwarrant.risk

requirement := {
	"mode": verdict.mode,
	"source": verdict.source,
	"ruleId": verdict.ruleId,
	"autoApproved": verdict.autoApproved,
	"prompt": sprintf("[risk %s] %s", [risk.level, template]),
	"channels": data.toolwarrant.settings.hitl.channels,
	"approvers": approvers,
	"expirySeconds": data.toolwarrant.settings.hitl.expirySeconds,
	"outOfBandExpirySeconds": data.toolwarrant.settings.hitl.outOfBandExpirySeconds,
}

default written := false

written if trim_space(input.tool.humanInTheLoop.promptTemplate) != ""

template := input.tool.humanInTheLoop.promptTemplate if written

template := data.toolwarrant.settings.hitl.promptTemplate if not written

# What asks for a human whatever the tool says.

demands contains {"id": "hitl-operator-rule", "fourEyes": false} if {
	some name in data.toolwarrant.settings.hitl.requiredTools
	name == input.tool.name
}

demands contains {"id": "hitl-operator-rule", "fourEyes": false} if {
	some id in data.toolwarrant.settings.hitl.requiredTools
	id == input.tool.toolId
}

demands contains {"id": "hitl-operator-rule", "fourEyes": false} if {
	some category in data.toolwarrant.settings.hitl.requiredCategories
	category == input.tool.category
}

default four_eyes := false

four_eyes if {
	some demand in demands
	demand.fourEyes
}

approvers := {"groups": data.toolwarrant.settings.hitl.approvers.groups, "fourEyes": true} if four_eyes

approvers := data.toolwarrant.settings.hitl.approvers if not four_eyes

# The mode of the document; none counts as an empty one.

default mode := ""

mode := input.tool.humanInTheLoop.mode

verdict := {"mode": "REQUIRED", "source": "rule", "ruleId": min([demand.id | some demand in demands]), "autoApproved": false} if {
	count(demands) > 0
}

verdict := {"mode": "REQUIRED", "source": "spec", "ruleId": "hitl-required", "autoApproved": false} if {
	count(demands) == 0
	mode == "REQUIRED"
}

verdict := {"mode": "REQUIRED", "source": "floor", "ruleId": "hitl-floor", "autoApproved": false} if {
	count(demands) == 0
	mode == "DISABLED"
	risk.level >= data.toolwarrant.settings.hitl.floor
}

verdict := {"mode": "DISABLED", "source": "spec", "ruleId": "hitl-disabled", "autoApproved": false} if {
	count(demands) == 0
	mode == "DISABLED"
	risk.level < data.toolwarrant.settings.hitl.floor
}

verdict := {"mode": "REQUIRED", "source": "threshold", "ruleId": "hitl-threshold", "autoApproved": false} if {
	count(demands) == 0
	mode == "AUTO_APPROVE"
	risk.level >= data.toolwarrant.settings.hitl.threshold
}

verdict := {"mode": "REQUIRED", "source": "floor", "ruleId": "hitl-floor", "autoApproved": false} if {
	count(demands) == 0
	mode == "AUTO_APPROVE"
	risk.level < data.toolwarrant.settings.hitl.threshold
	risk.level >= data.toolwarrant.settings.hitl.floor
}

verdict := {"mode": "DISABLED", "source": "spec", "ruleId": "hitl-auto-approve", "autoApproved": true} if {
	count(demands) == 0
	mode == "AUTO_APPROVE"
	risk.level < data.toolwarrant.settings.hitl.threshold
	risk.level < data.toolwarrant.settings.hitl.floor
}

verdict := {"mode": "REQUIRED", "source": "rule", "ruleId": "hitl-unknown-mode", "autoApproved": false} if {
	count(demands) == 0
	not mode in {"", "REQUIRED", "DISABLED", "AUTO_APPROVE"}
}

verdict := {"mode": "REQUIRED", "source": "default", "ruleId": "hitl-default", "autoApproved": false} if {
	count(demands) == 0
	mode == ""
	risk.level >= data.toolwarrant.settings.hitl.defaultFrom
}

verdict := {"mode": "DISABLED", "source": "default", "ruleId": "hitl-default", "autoApproved": false} if {
	count(demands) == 0
	mode == ""
	risk.level < data.toolwarrant.settings.hitl.defaultFrom
}
