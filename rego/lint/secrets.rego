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
	kind := _text_kind(found.text)
}

# METADATA
# title: Secret in the code, by its name
# description: The value of a variable, a member, a header or a comparison.
# labels:
#   id: secret-literal
findings contains {
	"id": "secret-literal",
	"severity": "error",
	"message": sprintf("by its name the code holds %s, and the value is written out; keep it in the secrets file and read it through a static variable ${NAME}", [kind]),
	"pointer": "/code",
	"line": place[0],
	"column": place[1],
} if {
	some place, kind in _named_secrets
}

# METADATA
# title: Where the code holds a secret by its name
# labels:
#   id: lint-named-secrets
_named_secrets[[found.line, found.column]] := min({kind |
	some kind, form in data.toolwarrant.settings.lint.secrets.assigned
	regex.match(concat("", [form.names, "$"]), lower(found.name))
	_written_out(found.text, form, form.written)
}) if {
	some found in input.document.namedStrings
	not _secret_kind(found.text)
}

# METADATA
# title: A value under the name of a secret is one
# description: |
#   Placeholders and names of algorithms are none. What a text tells after a
#   colon is mostly about the value, so that more is asked of it.
# labels:
#   id: lint-written-out
_written_out(value, form, needs) if {
	regex.match(form.value, value)
	not regex.match(data.toolwarrant.settings.lint.secrets.placeholder, value)
	some alternative in needs
	every need in alternative {
		regex.match(need, value)
	}
}

# METADATA
# title: What kind of secret a text assigns
# description: An assignment, a parameter of a query, or a sentence.
# labels:
#   id: lint-told-kind
_told_kind(text) := min({kind |
	some kind, form in data.toolwarrant.settings.lint.secrets.assigned
	some parts in regex.find_all_string_submatch_n(concat("", [form.names, data.toolwarrant.settings.lint.secrets.inText]), text, -1)
	needs := {"=": form.written}
	value := trim_right(parts[count(parts) - 1], ".!?:")
	_written_out(value, form, object.get(needs, parts[count(parts) - 2], form.told))
})

# METADATA
# title: What kind of secret a text holds, by its form or by what it says
# labels:
#   id: lint-text-kind
_text_kind(text) := kind if {
	kind := _secret_kind(_without_made_up(text))
} else := _told_kind(_without_made_up(text))

# METADATA
# title: A text without the published values that are nobody's secret
# description: Exactly these, such as the example key of the documentation of AWS.
# labels:
#   id: lint-without-made-up
_without_made_up(text) := strings.replace_n({value: "" | some value in object.get(data.toolwarrant.settings.lint.secrets, "madeUp", [])}, text)

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
	kind := _text_kind(variable.value)
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
	not regex.match(data.toolwarrant.settings.lint.secrets.placeholder, variable.value)
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
	kind := _text_kind(param.testValue)
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
	kind := _text_kind(text)
}

# METADATA
# title: Secret in the reason of a suppression
# labels:
#   id: secret-in-text
findings contains {
	"id": "secret-in-text",
	"severity": "error",
	"message": sprintf("the reason holds what looks like %s; it is part of the document, and reports repeat reasons", [kind]),
	"pointer": sprintf("/x-toolwarrant-lint/%d/reason", [i]),
} if {
	some i, reason in input.document.reasons
	kind := _text_kind(reason)
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
