# File signals.
package toolwarrant.risk

import rego.v2

import data.toolwarrant.effective

# METADATA
# title: Reading files
# labels:
#   id: file-read
signals contains _signal("file-read", set()) if {
	effective.file_read
	not effective.file_write
}

# METADATA
# title: Writing files
# labels:
#   id: file-write
signals contains _signal("file-write", set()) if effective.file_write

# METADATA
# title: Declared destructive
# labels:
#   id: destructive
signals contains _signal("destructive", set()) if input.tool.sandboxOverrides.destructive
