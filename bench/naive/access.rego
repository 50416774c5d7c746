# Who may call a tool.
package toolwarrant.access

import rego.v2

import data.toolwarrant.risk

default callable := false

callable if count(reasons) == 0

# A rule that does not say that it only denies counts for every origin.
reasons contains reason(rule) if {
	some rule in data.toolwarrant.settings.access.rules
	applies(rule)
	not rule.effect == "deny"
}

reasons contains reason(rule) if {
	some rule in data.toolwarrant.settings.access.rules
	applies(rule)
	rule.effect == "deny"
	selects(rule, "origins", [input.call.origin])
}

reasons contains {
	"id": "max-risk-level",
	"message": sprintf("the tool is %s, and nothing above %s may be called here", [
		risk.level,
		data.toolwarrant.settings.access.maxRiskLevel,
	]),
	"path": "",
} if {
	risk.level > data.toolwarrant.settings.access.maxRiskLevel
}

reason(rule) := {
	"id": object.get(rule, "id", "access-rule"),
	"message": object.get(rule, "message", "the policy of this installation does not let you call this tool"),
	"path": object.get(rule, "path", ""),
}

applies(rule) if {
	selects(rule, "tools", [input.tool.name, input.tool.toolId])
	selects(rule, "categories", [input.tool.category])
	selects(rule, "tags", input.tool.tags)
	selects(rule, "subjects", [input.principal.subject])
	selects(rule, "groups", input.principal.groups)
}

# An absent or an empty selector matches anything.
selects(rule, selector, _) if not rule[selector]

selects(rule, selector, _) if count(rule[selector]) == 0

selects(rule, selector, values) if {
	some value in values
	value in rule[selector]
}
