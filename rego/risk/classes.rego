# Classes of classes.
#
# Sorts class patterns into the kinds of settings.classes. A wildcard counts
# as every kind that it could cover, so that it scores as its worst member.
package toolwarrant.risk

import rego.v2

import data.toolwarrant.effective

# METADATA
# title: The patterns of a set by the kind of class that they could cover
# labels:
#   id: risk-by-kind
_by_kind(patterns) := {kind: hits |
	wildcards := {pattern | some pattern in patterns; endswith(pattern, "*")}
	some kind, listed in data.toolwarrant.settings.classes
	named := {pattern | some pattern in listed.exact; pattern in patterns}
	begun := {pattern | some pattern in patterns; strings.any_prefix_match(pattern, listed.prefix)}
	covered := {pattern |
		some pattern in wildcards
		strings.any_prefix_match(array.concat(listed.exact, listed.prefix), trim_suffix(pattern, "*"))
	}
	hits := (named | begun) | covered
	count(hits) > 0
}

# METADATA
# title: Added allows by kind
# labels:
#   id: risk-added-kinds
added_kinds := _by_kind(effective.added_allows)

# METADATA
# title: Added allows of no kind
# labels:
#   id: risk-added-other
added_other := effective.added_allows - union({patterns | some patterns in added_kinds})
