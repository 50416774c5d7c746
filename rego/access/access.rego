# METADATA
# title: Access
# description: |
#   Who may see a tool and who may call it. Out of the box everyone may see
#   and call everything that is served; rules in settings.access take away.
#   Nothing that `visible` reaches may read the arguments or the time: the
#   engine checks that when the policy is activated.
package toolwarrant.access

import rego.v2

import data.toolwarrant.risk

# METADATA
# title: The caller may see the tool
# entrypoint: true
# labels:
#   id: access-visible
visible := count(hidden) == 0

# METADATA
# title: The caller may call the tool
# labels:
#   id: access-callable
callable := count(reasons) == 0

# METADATA
# title: Rules that hide the tool from the caller
# description: A rule hides unless it says that it only denies.
# labels:
#   id: access-hidden
hidden contains _reason(rule) if {
	some rule in data.toolwarrant.settings.access.rules
	object.get(rule, "effect", "hide") != "deny"
	applies(rule)
}

# METADATA
# title: No view of the caller has the tool
# description: |
#   Where views are stated, a caller sees what they show and nothing else. Of a
#   caller whom none is for there is none to show anything.
# labels:
#   id: access-view
hidden contains _outside_views if not in_view

reasons contains _outside_views if not in_view

_outside_views := {
	"id": "access-view",
	"message": "no view of this installation has this tool for you",
	"path": "",
}

# METADATA
# title: Why the tool may not be called
# description: What is hidden is denied as well, from every origin.
# labels:
#   id: access-reasons
reasons contains _reason(rule) if {
	some rule in data.toolwarrant.settings.access.rules
	applies(rule)
	_in_scope(rule)
}

# METADATA
# title: A rule holds for the origin of the call
# labels:
#   id: access-in-scope
_in_scope(rule) if object.get(rule, "effect", "hide") != "deny"

_in_scope(rule) if _any(rule, "origins", {input.call.origin})

# METADATA
# title: The level is above what may be called
# labels:
#   id: max-risk-level
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

# METADATA
# title: Every selector of a rule matches
# description: |
#   A selector that is absent or empty matches anything. Rules of access and
#   of limits choose tools and callers alike.
# labels:
#   id: access-applies
applies(rule) if {
	_any(rule, "groups", input.principal.groups)
	_any(rule, "subjects", {input.principal.subject})
	_any(rule, "categories", {input.tool.category})
	_any(rule, "tags", input.tool.tags)
	_named(rule)
}

# METADATA
# title: The tool is one that the rule names, or it names none
# description: |
#   The name is looked at last, and only for a rule that states one: tools that
#   no rule tells apart are listed by one evaluation.
# labels:
#   id: access-named
_named(rule) if count(object.get(rule, "tools", [])) == 0

_named(rule) if {
	some tool in rule.tools
	tool in {input.tool.name, input.tool.toolId}
}

# METADATA
# title: A view of the caller shows the tool, or there are no views
# description: |
#   A view that names neither groups nor subjects is for everyone. It shows what
#   any of its lists has, and one without lists shows nothing. Names are looked
#   at last, so that tools which no view tells apart are listed by one
#   evaluation.
# labels:
#   id: access-in-view
in_view if count(_views) == 0

in_view if {
	some view in _views
	_is_for_caller(view)
	_shows(view)
}

_views := object.get(data.toolwarrant.settings.access, "views", [])

_is_for_caller(view) if count(object.get(view, "groups", [])) + count(object.get(view, "subjects", [])) == 0

_is_for_caller(view) if {
	some group in view.groups
	group in input.principal.groups
}

_is_for_caller(view) if input.principal.subject in object.get(view, "subjects", [])

# METADATA
# title: What a view shows
# labels:
#   id: access-view-shows
_shows(view) if {
	"*" in view.tools
} else if {
	input.tool.category in view.categories
} else if {
	some tag in view.tags
	tag in input.tool.tags
} else if {
	some tool in view.tools
	tool in {input.tool.name, input.tool.toolId}
}

# METADATA
# title: A selector is absent, empty, or names one of the values
# labels:
#   id: access-any
_any(rule, selector, _) if count(object.get(rule, selector, [])) == 0

_any(rule, selector, values) if {
	some value in rule[selector]
	value in values
}

# METADATA
# title: What a rule says to the caller
# labels:
#   id: access-reason
_reason(rule) := {
	"id": object.get(rule, "id", "access-rule"),
	"message": object.get(rule, "message", "the policy of this installation does not let you call this tool"),
	"path": object.get(rule, "path", ""),
}
