# Signals of added allows.
package toolwarrant.risk

import rego.v2

import data.toolwarrant.effective

# METADATA
# title: Signals of added allows
# description: Only a tool with such classes is looked at further.
# labels:
#   id: allows
signals contains signal if {
	count(effective.added_allows) > 0
	some signal in _allows
}

# METADATA
# title: Critical classes allowed
# labels:
#   id: allow-critical
_allows contains _signal("allow-critical", added_kinds.critical)

# METADATA
# title: File-writing classes allowed
# labels:
#   id: allow-file-write
_allows contains _signal("allow-file-write", added_kinds["file-write"])

# METADATA
# title: Reflection allowed
# labels:
#   id: allow-reflection
_allows contains _signal("allow-reflection", added_kinds.reflection)

# METADATA
# title: Network classes allowed
# labels:
#   id: allow-network
_allows contains _signal("allow-network", added_kinds.network)

# METADATA
# title: File-reading classes allowed
# labels:
#   id: allow-file-read
_allows contains _signal("allow-file-read", added_kinds["file-read"])

# METADATA
# title: Other classes allowed
# labels:
#   id: allow-other
_allows contains _signal("allow-other", added_other) if count(added_other) > 0
