# Texts.
#
# What a model and a human read. Expressions and lists are settings; none of
# them proves bad intent, each is worth a look.
package toolwarrant.lint

import rego.v2

# METADATA
# title: Every text that a model reads, by its place
# labels:
#   id: lint-prose
_prose["/description"] := input.document.description

_prose[pointer] := param.description if {
	some i, param in input.document.params
	pointer := sprintf("/params/%d/description", [i])
}

_prose["/humanInTheLoop/promptTemplate"] := input.tool.humanInTheLoop.promptTemplate if {
	input.document
}

# METADATA
# title: Description too short
# labels:
#   id: description-short
findings contains {
	"id": "description-short",
	"severity": "warning",
	"message": sprintf("the description has %d characters; say what the tool does, what it needs and when to use it", [count(text)]),
	"pointer": "/description",
} if {
	text := trim_space(input.document.description)
	count(text) < data.toolwarrant.settings.lint.description.minimum
}

# METADATA
# title: Description without return shape
# labels:
#   id: description-returns
findings contains {
	"id": "description-returns",
	"severity": "warning",
	"message": "the description does not say what the tool returns; a model has to guess",
	"pointer": "/description",
} if {
	text := trim_space(input.document.description)
	text != ""
	not regex.match(data.toolwarrant.settings.lint.description.returns, text)
}

# METADATA
# title: Hidden characters
# labels:
#   id: text-hidden
findings contains {
	"id": "text-hidden",
	"severity": "error",
	"message": "the text has characters that a human does not see and a model reads; remove them",
	"pointer": pointer,
} if {
	some pointer, text in _prose
	regex.match(data.toolwarrant.settings.lint.hidden, text)
}

# METADATA
# title: Injected instructions
# labels:
#   id: text-injection
findings contains {
	"id": "text-injection",
	"severity": "error",
	"message": sprintf("the text reads like an instruction to the model (%s); describe the tool and nothing else", [kind]),
	"pointer": pointer,
} if {
	some pointer, text in _prose
	some kind, pattern in data.toolwarrant.settings.lint.injection
	regex.match(pattern, text)
}

# METADATA
# title: Text that sends the model to another tool
# description: Saying which tool is the right one instead is no order.
# labels:
#   id: text-other-tool
findings contains {
	"id": "text-other-tool",
	"severity": "warning",
	"message": sprintf("the text tells the model to use the tool %s; a description speaks of its own tool, and \"use %s instead\" is how to point elsewhere", [name, name]),
	"pointer": pointer,
} if {
	settings := data.toolwarrant.settings.lint.otherTool
	some pointer, text in _prose
	some name in input.document.mentions
	some order in regex.find_n(concat("", ["(?i)", settings.before, name, settings.after]), text, -1)
	not regex.match(settings.exempt, order)
}

# METADATA
# title: Letters that look alike
# labels:
#   id: text-homoglyph
findings contains {
	"id": "text-homoglyph",
	"severity": "warning",
	"message": "the text mixes Latin letters with letters that look the same; one of them may not be what it seems",
	"pointer": pointer,
} if {
	some pointer, text in _prose
	regex.match(data.toolwarrant.settings.lint.homoglyph.latin, text)
	regex.match(data.toolwarrant.settings.lint.homoglyph.lookalike, text)
}

# METADATA
# title: Prose in another language, by its letters
# labels:
#   id: text-foreign
findings contains {
	"id": "text-foreign",
	"severity": "warning",
	"message": sprintf("%q has letters beyond ASCII; write prose in English and put samples of other languages into quotes", [min(words)]),
	"pointer": pointer,
} if {
	settings := data.toolwarrant.settings.lint
	some pointer, text in _prose
	prose := regex.replace(text, settings.quoted, "")
	words := {word |
		some word in regex.find_n(settings.language.word, prose, -1)
		regex.match(settings.foreign, word)
		not lower(word) in settings.language.known
		not _proper_name(word, prose)
	}
	count(words) > 0
}

# METADATA
# title: A word is a name in an English text
# labels:
#   id: lint-proper-name
_proper_name(word, prose) if {
	settings := data.toolwarrant.settings.lint.language
	regex.match(settings.properName, word)
	regex.match(settings.english, lower(prose))
}

# METADATA
# title: Prose in another language, by its words
# description: Two words of grammar in a sentence that has none of English.
# labels:
#   id: text-foreign
findings contains {
	"id": "text-foreign",
	"severity": "warning",
	"message": sprintf("a sentence reads like %s; write prose in English and put samples of other languages into quotes", [language]),
	"pointer": pointer,
} if {
	settings := data.toolwarrant.settings.lint
	some pointer, text in _prose
	language := min({language |
		some sentence in regex.find_n(settings.language.sentence, regex.replace(text, settings.quoted, ""), -1)
		not regex.match(settings.language.english, lower(sentence))
		some language, pattern in settings.language.functionWords
		count({word | some word in regex.find_n(pattern, sentence, -1)}) > 1
	})
}

# METADATA
# title: Unknown placeholder in a prompt
# labels:
#   id: prompt-placeholder
findings contains {
	"id": "prompt-placeholder",
	"severity": "warning",
	"message": sprintf("%s is not replaced; a prompt knows {toolName} and {args}", [placeholder]),
	"pointer": "/humanInTheLoop/promptTemplate",
} if {
	input.document
	some placeholder in regex.find_n(`\{[^{}]*\}`, input.tool.humanInTheLoop.promptTemplate, -1)
	not placeholder in {"{toolName}", "{args}"}
	not startswith(placeholder, "{args.") # TW113 has more to say
}
