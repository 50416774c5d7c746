# Placeholder names.
#
# Which ${NAME} of the static variables may be resolved: for a bundled tool
# the names of its manifest, for any other what the operator granted. Names
# that configure the host itself are never resolved.
package toolwarrant.effective

import rego.v2

# METADATA
# title: Names that may be resolved
# labels:
#   id: effective-env
env contains name if {
	some name in input.tool.placeholders
	not startswith(name, data.toolwarrant.settings.env.reservedPrefix)
	_granted(name)
}

# METADATA
# title: A name is granted
# labels:
#   id: effective-granted
_granted(name) if {
	input.tool.source == "builtin"
	name in input.tool.manifestEnv
}

_granted(name) if {
	input.tool.source != "builtin"
	some grant in input.layers.operator.grants
	_listed(name, grant.names)
	_open(grant.tools, {input.tool.name, input.tool.toolId})
	_open(grant.categories, {input.tool.category})
	_open(grant.sources, {input.tool.source})
}

# METADATA
# title: A list is empty, or names one of the values
# labels:
#   id: effective-open
_open(patterns, _) if count(patterns) == 0

_open(patterns, values) if {
	some value in values
	_listed(value, patterns)
}

# METADATA
# title: A list names a value, in full or by a beginning and "*"
# labels:
#   id: effective-listed
_listed(value, patterns) if value in patterns

_listed(value, patterns) if {
	some pattern in patterns
	endswith(pattern, "*")
	startswith(value, trim_suffix(pattern, "*"))
}
