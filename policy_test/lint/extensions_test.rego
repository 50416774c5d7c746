# Members of our own.
package toolwarrant.lint_test

import rego.v2

import data.toolwarrant.lint
import data.toolwarrant_test.fixture

test_extensions[note] if {
	some note, tc in {
		"known": [["/name", "/x-toolwarrant-mask", "/x-toolwarrant-profile", "/x-toolwarrant-lint", "/x-toolwarrant-lint/0/id"], set()],
		"misspelled": [["/x-toolwarrant-profil"], {"/x-toolwarrant-profil"}],
		"another case": [["/X-Toolwarrant-Profile"], {"/X-Toolwarrant-Profile"}],
		"of others": [["/x-acme", "/params/x-toolwarrant-y"], set()],
	}
	found := lint.findings with input as fixture.documented(fixture.plain, {"members": tc[0]})
	{f.pointer | some f in found; f.id == "extension-unknown"} == tc[1]
}

test_mask[note] if {
	some note, tc in {
		"of a parameter": [{"x"}, set()],
		"of none": [{"x", "pin"}, {"/x-toolwarrant-mask"}],
	}
	found := lint.findings with input as fixture.documented(fixture.tool({"maskParams": tc[0]}), {})
	{f.pointer | some f in found; f.id == "mask-unknown"} == tc[1]
}

test_unreadable_mask[note] if {
	some note, pointers in {
		"none": [],
		"some": ["/x-toolwarrant-mask/pin", "/x-toolwarrant-mask/1"],
	}
	found := lint.findings with input as fixture.documented(fixture.plain, {"unreadMasks": pointers})
	{f.pointer | some f in found; f.id == "mask-unreadable"} == {p | some p in pointers}
}

test_unreadable_mask_of_an_older_input if {
	found := lint.findings with input as fixture.documented(fixture.plain, {})
	not "mask-unreadable" in {f.id | some f in found}
}
