# Random values.
#
# A key without a form of its own is still long and looks drawn at random. Rego
# has no logarithm, but how often two characters of a
# text are equal says the same: one time in 64 for random Base64, one in 16
# for random hexadecimal, and far more often in words. Digests, UUIDs, JSON
# web tokens, data URLs, alphabets and encoded text are left alone.
package toolwarrant.lint

import rego.v2

# METADATA
# title: Random value in the code
# labels:
#   id: secret-entropy
findings contains {
	"id": "secret-entropy",
	"severity": "warning",
	"message": sprintf("the code holds a long random value (%s); if it is a key, keep it in the secrets file and read it through a static variable ${NAME}", [kind]),
	"pointer": "/code",
	"line": found.line,
	"column": found.column,
} if {
	some found in input.document.strings
	not _named_secrets[[found.line, found.column]]
	kind := _random_kind(found.text)
}

# METADATA
# title: Random value in a static variable
# labels:
#   id: secret-entropy
findings contains {
	"id": "secret-entropy",
	"severity": "warning",
	"message": sprintf("the static variable holds a long random value (%s); if it is a key, write ${NAME} and keep the value in the secrets file", [kind]),
	"pointer": sprintf("/staticVariables/%d", [i]),
} if {
	some i, variable in input.document.staticVariables
	not regex.match(data.toolwarrant.settings.lint.secrets.names, variable.key)
	kind := _random_kind(variable.value)
}

# METADATA
# title: Random value in a test value
# labels:
#   id: secret-entropy
findings contains {
	"id": "secret-entropy",
	"severity": "warning",
	"message": sprintf("the testValue holds a long random value (%s); if it is a key, write a made-up one", [kind]),
	"pointer": sprintf("/params/%d/testValue", [i]),
} if {
	some i, param in input.document.params
	kind := _random_kind(param.testValue)
}

# METADATA
# title: What kind of random value a text holds
# description: A secret of a known form is another finding.
# labels:
#   id: lint-random-kind
_random_kind(text) := min({kind |
	count(text) >= 32
	not _text_kind(text)
	settings := data.toolwarrant.settings.lint.entropy
	rest := regex.replace(text, settings.known, " ")
	some kind, form in settings.kinds
	some token in regex.find_n(form.token, rest, -1)
	_random(token, form)
})

# METADATA
# title: A token looks drawn at random
# labels:
#   id: lint-random
_random(token, form) if {
	not count(token) in form.digests
	every need in form.needs {
		regex.match(need, token)
	}
	not _encoded_text(token)
	n := count(token)
	equal := sum([pairs |
		some character in {x | some x in split(token, "")}
		times := count(indexof_n(token, character))
		pairs := times * (times - 1)
	])
	equal / (n * (n - 1)) <= form.collisions
}

# METADATA
# title: A token is Base64 of a text
# labels:
#   id: lint-encoded-text
_encoded_text(token) if {
	whole := substring(token, 0, count(token) - (count(token) % 4))
	base64.is_valid(whole)
	regex.match(data.toolwarrant.settings.lint.entropy.printable, base64.decode(whole))
}
