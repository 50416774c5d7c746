# Files.
#
# Safe Tool Spec section 10.2, steps 6 to 8, and section 10.5.
package toolwarrant.effective

import rego.v2

# METADATA
# title: Reading files
# description: An explicit false clears what a layer below granted.
# labels:
#   id: effective-file-read
file_read := object.get(input.tool.sandboxOverrides, "fileRead", input.folded.fileRead)

# METADATA
# title: Writing files
# labels:
#   id: effective-file-write
file_write := object.get(input.tool.sandboxOverrides, "fileWrite", input.folded.fileWrite)

# METADATA
# title: Base folder
# description: |
#   The folder that confines reads and writes. The host resolves the path of
#   a spec against the operator's base before the policy sees it.
# labels:
#   id: effective-base-path
base_path := object.get(input.tool.sandboxOverrides, "fsBasePath", input.layers.operator.basePath)

# METADATA
# title: The base folder is one that the operator listed
# labels:
#   id: effective-base-inside
base_inside if {
	not contains(base_path, "\u0000")
	some root in input.layers.operator.roots
	_below(base_path, root)
}

# METADATA
# title: A path is a folder or lies below it
# labels:
#   id: effective-below
_below(path, path)

_below(path, root) if {
	separator := input.layers.operator.separator
	startswith(path, concat("", [trim_suffix(root, separator), separator]))
}
