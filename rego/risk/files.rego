# File signals.
package toolwarrant.risk

import rego.v2

import data.toolwarrant.effective

# METADATA
# title: Reading files
# labels:
#   id: file-read
signals contains _plain("file-read") if {
	effective.file_read
	not effective.file_write
}

# METADATA
# title: Writing files
# labels:
#   id: file-write
signals contains _plain("file-write") if effective.file_write

# METADATA
# title: Declared destructive
# labels:
#   id: destructive
signals contains _plain("destructive") if input.tool.sandboxOverrides.destructive
