# Random values, and what only looks like one. The random ones are put
# together here, so that no scanner of this repository stops at them.
package toolwarrant.lint_test

import rego.v2

import data.toolwarrant.lint
import data.toolwarrant_test.fixture

_base64 := concat("", ["9fQ2vT", "kLx0ZbR7mWcY", "4nHsE8jUdPa6XgB1"])

_hex := concat("", ["3f9a0c7be1", "5d2846", "f07ac9e3b1", "d85e2f94", "60bd17a8ce"])

test_random[note] if {
	some note, tc in {
		"Base64": [_base64, true],
		"Base64 in a header": [concat(" ", ["Key", _base64]), true],
		"Base64 with a slash": [concat("/", [_base64, "x"]), true],
		"hexadecimal": [_hex, true],
		"hexadecimal in upper case": [upper(_hex), true],
		"short": [substring(_base64, 0, 31), false],
		"a SHA-256": ["e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", false],
		"a SHA-1": ["da39a3ee5e6b4b0d3255bfef95601890afd80709", false],
		"an MD5": ["d41d8cd98f00b204e9800998ecf8427e", false],
		"an integrity": [concat("", ["sha512-", _base64, _base64]), false],
		"a digest with its name": [concat("", ["sha256:", _hex]), false],
		"a UUID": ["see 123e4567-e89b-12d3-a456-426614174000 and 123e4567-e89b-12d3-a456-426614174001", false],
		"a JSON web token": [concat(".", ["eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9", "eyJzdWIiOiIxIn0", _base64]), false],
		"a data URL": [concat("", ["data:image/png;base64,", _base64]), false],
		"an alphabet": ["ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", false],
		"another alphabet": ["123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz", false],
		"encoded text": [base64.encode("The quick brown fox jumps over 13 lazy dogs."), false],
		"a path": ["https://apis.example.com/1471000/MdcinPrductPrmsnInfoService02/getMdcinPrductItem02", false],
		"names": ["aVeryLongNameOfSomeHandlerThatCounts1And2And3_withUnderscores-and-dashes", false],
		"a sentence": ["Returns the number of the day, counted from the first of January of the year.", false],
		"a placeholder": [concat("", ["${", upper(_base64), "}"]), false],
	}
	found := lint.findings with input as fixture.documented(fixture.plain, {"strings": [{"text": tc[0], "line": 3, "column": 5}]})
	{f.pointer | some f in found; f.id == "secret-entropy"} == {"/code"} == tc[1]
}

test_random_places[note] if {
	some note, tc in {
		"a static variable": [{"staticVariables": [{"key": "salt", "value": _base64}]}, {["secret-entropy", "/staticVariables/0"]}],
		"one that is a secret by its name": [{"staticVariables": [{"key": "apiKey", "value": _base64}]}, {["secret-literal", "/staticVariables/0"]}],
		"a test value": [{"params": [{"name": "a", "type": "STRING", "description": "", "testValue": _base64}]}, {["secret-entropy", "/params/0/testValue"]}],
		"a secret of a known form": [{"strings": [{"text": concat("", ["ghp_", _base64]), "line": 1, "column": 1}]}, {["secret-literal", "/code"]}],
	}
	found := lint.findings with input as fixture.documented(fixture.plain, tc[0])
	{[f.id, f.pointer] | some f in found} == tc[1]
}
