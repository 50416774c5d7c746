# Members of our own.
#
# A document may have members that nobody knows; those that begin with
# x-toolwarrant- are meant for this program, so that one it does not know is a
# mistake: a misspelled profile would narrow nothing.
package toolwarrant.lint

import rego.v2

# METADATA
# title: Unknown extension
# labels:
#   id: extension-unknown
findings contains {
	"id": "extension-unknown",
	"severity": "warning",
	"message": sprintf("%s means nothing here and has no effect; there are %s", [
		trim_prefix(pointer, "/"),
		concat(", ", data.toolwarrant.settings.lint.extensions),
	]),
	"pointer": pointer,
} if {
	some pointer in input.document.members
	startswith(lower(pointer), "/x-toolwarrant-")
	count(split(pointer, "/")) == 2
	not trim_prefix(pointer, "/") in data.toolwarrant.settings.lint.extensions
}

# METADATA
# title: Mask without parameter
# labels:
#   id: mask-unknown
findings contains {
	"id": "mask-unknown",
	"severity": "warning",
	"message": sprintf("there is no parameter %q, so that the log masks nothing for it", [name]),
	"pointer": "/x-toolwarrant-mask",
} if {
	input.document
	some name in (input.tool.maskParams - input.tool.params)
}

# METADATA
# title: Mask that cannot be read
# labels:
#   id: mask-unreadable
findings contains {
	"id": "mask-unreadable",
	"severity": "warning",
	"message": "this does not say how an argument is kept, so that the log masks every argument; write a list of names, or an object of names with \"drop\", \"mask\", \"hmac\" or \"hash\"",
	"pointer": pointer,
} if {
	some pointer in input.document.unreadMasks
}
