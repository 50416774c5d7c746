# Commands.
#
# What a command that the code starts has to be kept in: which sandboxes may
# be taken, what they have to enforce, and how much the command may use. The
# executor builds the sandbox from this and from nothing that the code says.
#
# The settings say it per risk level; the first rule that matches the tool may
# state any part of it otherwise. A document (x-toolwarrant-sandbox) comes on
# top and can only ask for more.
package toolwarrant.effective

import rego.v2

import data.toolwarrant.risk

# METADATA
# title: Code may start commands
# description: |
#   Where the class that starts them is allowed and not denied. Without this
#   the policy has no part "sandbox", and nothing can be started.
# labels:
#   id: effective-runs-commands
runs_commands if {
	class := data.toolwarrant.settings.sandbox.class
	_covers(allow_classes, class)
	not _covers(deny_classes, class)
}

# METADATA
# title: The part of the policy that is about commands
# description: Absent, and not empty, where code starts none.
# labels:
#   id: effective-sandbox-part
_sandbox_part := {"sandbox": sandbox} if {
	runs_commands
} else := {}

# METADATA
# title: What a command is kept in
# labels:
#   id: effective-sandbox
sandbox := {
	"image": _stated("image", ""),
	"backends": _backends,
	"require": _require,
	"limits": {name: _sandbox_limit(name, value) | some name, value in data.toolwarrant.settings.sandbox.limits},
	"allowPartial": _stated("allowPartial", false),
	"env": {name | some name in _stated("env", [])},
	"warm": _stated("warm", ""),
}

# METADATA
# title: Rules of the settings that match the tool, in their order
# labels:
#   id: effective-sandbox-rules
_sandbox_rules := [rule |
	some rule in object.get(data.toolwarrant.settings.sandbox, "rules", [])
	_open(object.get(rule, "tools", []), {input.tool.name, input.tool.toolId})
	_open(object.get(rule, "categories", []), {input.tool.category})
	_tagged(object.get(rule, "tags", []))
]

# METADATA
# title: What the operator says of this tool
# description: The first rule that matches; without one, an empty one.
# labels:
#   id: effective-sandbox-rule
_sandbox_rule := _sandbox_rules[0] if {
	count(_sandbox_rules) > 0
} else := {}

# METADATA
# title: No tags are asked for, or the tool has one of them
# labels:
#   id: effective-tagged
_tagged(tags) if count(tags) == 0

_tagged(tags) if {
	some tag in tags
	tag in input.tool.tags
}

# METADATA
# title: A value of the rule, or what holds without
# labels:
#   id: effective-stated
_stated(name, otherwise) := object.get(_sandbox_rule, name, otherwise)

# METADATA
# title: What the settings say of the level
# labels:
#   id: effective-sandbox-level
_level := data.toolwarrant.settings.sandbox.levels[risk.level]

# METADATA
# title: What the document asks for
# description: >-
#   Named by its member: what a list remembers of a tool depends on what rules
#   read of it, and the tool as a whole is the code as well.
# labels:
#   id: effective-sandbox-asked
_asked := input.tool.sandbox if {
	input.tool.sandbox
} else := {}

# METADATA
# title: Sandboxes that may be taken
# description: Those of the operator; of a document that names some, those of both.
# labels:
#   id: effective-sandbox-backends
_backends := {id |
	some id in _stated("backends", _level.backends)
	id in object.get(_asked, "backends", [id])
}

# METADATA
# title: What has to be enforced
# description: Of the operator and the document, the stronger one in each dimension.
# labels:
#   id: effective-sandbox-require
_require := {dimension: level |
	operator := _stated("require", _level.require)
	author := object.get(_asked, "require", {})
	some dimension in (object.keys(operator) | object.keys(author))
	level := _stronger(object.get(operator, dimension, "none"), object.get(author, dimension, "none"))
}

# METADATA
# title: The stronger of two levels of enforcement
# labels:
#   id: effective-stronger
_stronger(a, b) := [level |
	some level in ["full", "partial", "none"]
	level in {a, b}
][0]

# METADATA
# title: A limit
# description: That of the rule or the settings; less where the document says less.
# labels:
#   id: effective-sandbox-limit
_sandbox_limit(name, value) := min({operator, author}) if {
	operator := object.get(_stated("limits", {}), name, value)
	author := object.get(_asked, ["limits", name], operator)
}

# METADATA
# title: A list of patterns covers a class
# labels:
#   id: effective-covers
_covers(patterns, class) if class in patterns

_covers(patterns, class) if {
	some pattern in patterns
	endswith(pattern, ".*")
	startswith(class, trim_suffix(pattern, "*"))
}

# METADATA
# title: No sandbox is left
# description: |
#   The document asks for sandboxes of which the operator allows none: it has
#   no policy under which it could run.
# labels:
#   id: sandbox-none-left
violations contains {
	"id": "sandbox-none-left",
	"message": sprintf("the document asks for the sandboxes %s, and the policy allows %s; name one of those, or none", [
		concat(", ", _asked.backends),
		concat(", ", sort(_stated("backends", _level.backends))),
	]),
	"pointer": "/x-toolwarrant-sandbox/backends",
} if {
	runs_commands
	_asked.backends
	count(_backends) == 0
}
