# Classes of classes.
#
# Sorts class patterns into the kinds of settings.classes. A wildcard counts
# as every kind that it could cover, so that it scores as its worst member.
package toolwarrant.risk

import rego.v2

import data.toolwarrant.effective

# METADATA
# title: Patterns of a set that could cover a class of a kind
# labels:
#   id: risk-of-kind
of_kind(patterns, kind) := union({named, beginning, covering}) if {
	listed := data.toolwarrant.settings.classes[kind]
	named := {pattern | some pattern in patterns; pattern in listed.exact}
	beginning := {pattern | some pattern in patterns; strings.any_prefix_match(pattern, listed.prefix)}
	every_name := array.concat(listed.exact, listed.prefix)
	covering := {pattern |
		some pattern in patterns
		endswith(pattern, "*")
		strings.any_prefix_match(every_name, trim_suffix(pattern, "*"))
	}
}

# METADATA
# title: Added allows by kind
# labels:
#   id: risk-added-kinds
added_kinds := {kind: patterns |
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
