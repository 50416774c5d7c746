# Names and values.
#
# What the author named, and what the Local Pass runs with.
package toolwarrant.lint

import rego.v2

# METADATA
# title: Name beyond ASCII
# labels:
#   id: non-ascii-name
findings contains {
	"id": "non-ascii-name",
	"severity": "warning",
	"message": sprintf("%s has characters beyond ASCII, which can look like others; texts and comments may have them, names not", [pointer]),
	"pointer": pointer,
} if {
	some pointer in input.document.members
	regex.match(`[^\x00-\x7f]`, pointer)
}

# METADATA
# title: Identifier of the code beyond ASCII
# labels:
#   id: non-ascii-name
findings contains {
	"id": "non-ascii-name",
	"severity": "warning",
	"message": sprintf("the identifier %q has characters beyond ASCII, which can look like others", [found.text]),
	"pointer": "/code",
	"line": found.line,
	"column": found.column,
} if {
	some found in input.document.identifiers
}

# METADATA
# title: Name that does not exist
# labels:
#   id: name-missing
findings contains {
	"id": "name-missing",
	"severity": "error",
	"message": sprintf("nobody declares %s and this runtime has no such global, so that the line ends the call with a ReferenceError; %s", [found.text, object.get(
		data.toolwarrant.settings.lint.instead,
		found.text,
		"declare it, or ask with typeof whether it is there",
	)]),
	"pointer": "/code",
	"line": found.line,
	"column": found.column,
} if {
	some found in input.document.missingNames
}

# METADATA
# title: Parameter hides a global
# labels:
#   id: param-shadows
findings contains {
	"id": "param-shadows",
	"severity": "warning",
	"message": sprintf("the parameter hides the global %s, so that the code cannot use it; rename it", [param.name]),
	"pointer": sprintf("/params/%d/name", [i]),
} if {
	some i, param in input.document.params
	param.name in data.toolwarrant.settings.lint.globals
}

# METADATA
# title: Placeholder in an argument
# labels:
#   id: placeholder-in-argument
findings contains {
	"id": "placeholder-in-argument",
	"severity": "warning",
	"message": "placeholders are filled in static variables alone; here the text stays as it is written",
	"pointer": sprintf("/params/%d/testValue", [i]),
} if {
	some i, param in input.document.params
	regex.match(`\$\{[A-Z_][A-Z0-9_]*\}`, param.testValue)
}

# METADATA
# title: Test value without meaning
# labels:
#   id: test-value-garbage
findings contains {
	"id": "test-value-garbage",
	"severity": "warning",
	"message": sprintf("%q proves nothing; write a value that takes the code through its real path", [param.testValue]),
	"pointer": sprintf("/params/%d/testValue", [i]),
} if {
	some i, param in input.document.params
	regex.match(data.toolwarrant.settings.lint.garbage, param.testValue)
}

# METADATA
# title: Tag that names a capability
# labels:
#   id: tag-capability
findings contains {
	"id": "tag-capability",
	"severity": "warning",
	"message": sprintf("the tag %q names a capability or a credential; tags group tools, what a tool may do is decided elsewhere", [tag]),
	"pointer": sprintf("/tags/%d", [i]),
} if {
	some i, tag in input.document.tags
	regex.match(data.toolwarrant.settings.lint.tags.capability, tag)
}

# METADATA
# title: Tag outside the vocabulary
# labels:
#   id: tag-unknown
findings contains {
	"id": "tag-unknown",
	"severity": "info",
	"message": sprintf("the tag %q is not in the vocabulary; it is shown as it stands", [tag]),
	"pointer": sprintf("/tags/%d", [i]),
} if {
	some i, tag in input.document.tags
	not tag in data.toolwarrant.settings.lint.tags.vocabulary
	not regex.match(data.toolwarrant.settings.lint.tags.capability, tag)
}
