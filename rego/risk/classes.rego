# Classes of classes.
#
# Sorts class patterns into the kinds of settings.classes. A wildcard counts
# as every kind that it could cover, so that it scores as its worst member.
package toolwarrant.risk

import rego.v2

import data.toolwarrant.effective

# METADATA
# title: A pattern could cover a class of a kind
# labels:
#   id: risk-covers
covers(pattern, kind) if pattern in data.toolwarrant.settings.classes[kind].exact

covers(pattern, kind) if strings.any_prefix_match(pattern, data.toolwarrant.settings.classes[kind].prefix)

covers(pattern, kind) if {
	endswith(pattern, "*")
	strings.any_prefix_match(data.toolwarrant.settings.classes[kind].exact, trim_suffix(pattern, "*"))
}

covers(pattern, kind) if {
	endswith(pattern, "*")
	strings.any_prefix_match(data.toolwarrant.settings.classes[kind].prefix, trim_suffix(pattern, "*"))
}

# METADATA
# title: Patterns of a set that could cover a class of a kind
# labels:
#   id: risk-of-kind
of_kind(patterns, kind) := {pattern |
	some pattern in patterns
	covers(pattern, kind)
}

# METADATA
# title: Added allows by kind
# labels:
#   id: risk-added-kinds
added_kinds[kind] := patterns if {
	count(effective.added_allows) > 0
	some kind, _ in data.toolwarrant.settings.classes
	patterns := of_kind(effective.added_allows, kind)
	count(patterns) > 0
}

# METADATA
# title: Added allows of no kind
# labels:
#   id: risk-added-other
added_other := effective.added_allows - union({patterns | some patterns in added_kinds})
