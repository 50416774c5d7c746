# Secrets.
#
# A message never repeats what was found, and no report shows the line.
package toolwarrant.lint

import rego.v2

# METADATA
# title: What kind of secret a text holds
# labels:
#   id: lint-secret-kind
_secret_kind(text) := min({kind |
	count(text) >= data.toolwarrant.settings.lint.secrets.minimum
	some kind, pattern in data.toolwarrant.settings.lint.secrets.patterns
	regex.match(pattern, text)
})

# METADATA
# title: Secret in the code
# labels:
#   id: secret-literal
findings contains {
	"id": "secret-literal",
	"severity": "error",
	"message": sprintf("the code holds what looks like %s; keep it in the secrets file and read it through a static variable ${NAME}", [kind]),
	"pointer": "/code",
	"line": found.line,
	"column": found.column,
} if {
	some found in input.document.strings
	kind := _secret_kind(found.text)
}

# METADATA
# title: Secret in a static variable
# description: By its form, or by the name of the variable.
# labels:
#   id: secret-literal
findings contains {
	"id": "secret-literal",
	"severity": "error",
	"message": sprintf("the static variable holds what looks like %s; write ${NAME} and keep the value in the secrets file", [kind]),
	"pointer": sprintf("/staticVariables/%d", [i]),
} if {
	some i, variable in input.document.staticVariables
	kind := _secret_kind(variable.value)
}

findings contains {
	"id": "secret-literal",
	"severity": "error",
	"message": "by its name the static variable holds a secret, and its value is written out; write ${NAME} and keep the value in the secrets file",
	"pointer": sprintf("/staticVariables/%d", [i]),
} if {
	some i, variable in input.document.staticVariables
	regex.match(data.toolwarrant.settings.lint.secrets.names, variable.key)
	count(variable.value) >= data.toolwarrant.settings.lint.secrets.minimum
	not contains(variable.value, "${")
	not _secret_kind(variable.value)
}

# METADATA
# title: Secret in a test value
# labels:
#   id: secret-literal
findings contains {
	"id": "secret-literal",
	"severity": "error",
	"message": sprintf("the testValue holds what looks like %s; write a made-up value", [kind]),
	"pointer": sprintf("/params/%d/testValue", [i]),
} if {
	some i, param in input.document.params
	kind := _secret_kind(param.testValue)
}

# METADATA
# title: Secret in a text
# labels:
#   id: secret-in-text
findings contains {
	"id": "secret-in-text",
	"severity": "error",
	"message": sprintf("the text holds what looks like %s; every model and every client reads it", [kind]),
	"pointer": pointer,
} if {
	some pointer, text in _prose
	kind := _secret_kind(text)
}

# METADATA
# title: Value of a static variable in a text
# labels:
#   id: secret-in-text
findings contains {
	"id": "secret-in-text",
	"severity": "error",
	"message": sprintf("the text repeats the value of the static variable %q; static values are for the code alone", [
		variable.key,
	]),
	"pointer": pointer,
} if {
	some pointer, text in _prose
	some variable in input.document.staticVariables
	count(variable.value) >= data.toolwarrant.settings.lint.secrets.minimum
	contains(text, variable.value)
}
