# Signals of lifted denies.
#
# The loop of section 10.6 runs over the denies that the tool removes.
package toolwarrant.risk

import rego.v2

import data.toolwarrant.effective

# METADATA
# title: Signals of lifted denies
# description: Only a tool that lifts a deny is looked at further.
# labels:
#   id: denies
signals contains signal if {
	count(effective.removed_denies) > 0
	some signal in _denies
}

# METADATA
# title: A few denies lifted
# labels:
#   id: deny-removed
_denies contains _signal("deny-removed", effective.removed_denies) if {
	count(effective.removed_denies) < data.toolwarrant.settings.risk.removedMany
}

# METADATA
# title: Many denies lifted
# labels:
#   id: deny-removed-many
_denies contains _signal("deny-removed-many", effective.removed_denies) if {
	count(effective.removed_denies) >= data.toolwarrant.settings.risk.removedMany
}

# METADATA
# title: A deny on reflection lifted
# labels:
#   id: deny-removed-reflection
_denies contains _signal("deny-removed-reflection", _removed_kinds.reflection)

# METADATA
# title: A critical deny lifted
# labels:
#   id: deny-removed-critical
_denies contains _signal("deny-removed-critical", _removed_kinds.critical)

# METADATA
# title: Lifted denies by kind
# labels:
#   id: risk-removed-kinds
_removed_kinds := _by_kind(effective.removed_denies)
