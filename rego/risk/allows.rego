# Signals of added allows.
package toolwarrant.risk

import rego.v2

# METADATA
# title: Critical classes allowed
# labels:
#   id: allow-critical
signals contains _signal("allow-critical", added_kinds.critical)

# METADATA
# title: File-writing classes allowed
# labels:
#   id: allow-file-write
signals contains _signal("allow-file-write", added_kinds["file-write"])

# METADATA
# title: Reflection allowed
# labels:
#   id: allow-reflection
signals contains _signal("allow-reflection", added_kinds.reflection)

# METADATA
# title: Network classes allowed
# labels:
#   id: allow-network
signals contains _signal("allow-network", added_kinds.network)

# METADATA
# title: File-reading classes allowed
# labels:
#   id: allow-file-read
signals contains _signal("allow-file-read", added_kinds["file-read"])

# METADATA
# title: Other classes allowed
# labels:
#   id: allow-other
signals contains _signal("allow-other", added_other) if count(added_other) > 0
