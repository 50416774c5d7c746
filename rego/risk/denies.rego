# Signals of lifted denies.
#
# The loop of section 10.6 runs over the denies that the tool removes.
package toolwarrant.risk

import rego.v2

import data.toolwarrant.effective

# METADATA
# title: A few denies lifted
# labels:
#   id: deny-removed
signals contains _signal("deny-removed", effective.removed_denies) if {
	count(effective.removed_denies) > 0
	count(effective.removed_denies) < data.toolwarrant.settings.risk.removedMany
}

# METADATA
# title: Many denies lifted
# labels:
#   id: deny-removed-many
signals contains _signal("deny-removed-many", effective.removed_denies) if {
	count(effective.removed_denies) >= data.toolwarrant.settings.risk.removedMany
}

# METADATA
# title: A deny on reflection lifted
# labels:
#   id: deny-removed-reflection
signals contains _signal("deny-removed-reflection", _removed_kinds.reflection)

# METADATA
# title: A critical deny lifted
# labels:
#   id: deny-removed-critical
signals contains _signal("deny-removed-critical", _removed_kinds.critical)

# METADATA
# title: Lifted denies by kind
# labels:
#   id: risk-removed-kinds
_removed_kinds := {kind: patterns |
	count(effective.removed_denies) > 0
	some kind in {"critical", "reflection"}
	patterns := of_kind(effective.removed_denies, kind)
	count(patterns) > 0
}
