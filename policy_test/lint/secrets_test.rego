# Secrets, and what only looks like one. They are put together here, so that no
# scanner of this repository stops at them.
package toolwarrant.lint_test

import rego.v2

import data.toolwarrant.lint
import data.toolwarrant_test.fixture

test_secrets[note] if {
	some note, tc in {
		"nothing to say": [fixture.documented(fixture.plain, {}), set()],
		"an ordinary text": [fixture.documented(fixture.plain, {"strings": [{"text": "https://a.example/b?c=d", "line": 1, "column": 1}, {"text": "short", "line": 1, "column": 1}]}), set()],
		"aws": [fixture.documented(fixture.plain, {"strings": [{"text": concat("", ["AKIA", "ABCDEFGHIJKLMNOP"]), "line": 3, "column": 5}]}), {["secret-literal", "error", "/code"]}],
		"github": [fixture.documented(fixture.plain, {"strings": [{"text": concat("", ["ghp_", "abcdefghijklmnopqrstuvwxyz0123456789"]), "line": 3, "column": 5}]}), {["secret-literal", "error", "/code"]}],
		"github fine": [fixture.documented(fixture.plain, {"strings": [{"text": concat("", ["github_pat_", "abcdefghijklmnopqrstuvw"]), "line": 3, "column": 5}]}), {["secret-literal", "error", "/code"]}],
		"slack": [fixture.documented(fixture.plain, {"strings": [{"text": concat("", ["xoxb-", "1234567890-abc"]), "line": 3, "column": 5}]}), {["secret-literal", "error", "/code"]}],
		"google": [fixture.documented(fixture.plain, {"strings": [{"text": concat("", ["AIza", "abcdefghijklmnopqrstuvwxyz012345678"]), "line": 3, "column": 5}]}), {["secret-literal", "error", "/code"]}],
		"provider": [fixture.documented(fixture.plain, {"strings": [{"text": concat("", ["sk-", "abcdefghijklmnopqrstuvwxyz"]), "line": 3, "column": 5}]}), {["secret-literal", "error", "/code"]}],
		"stripe": [fixture.documented(fixture.plain, {"strings": [{"text": concat("", ["sk_live_", "abcdefghijklmnop"]), "line": 3, "column": 5}]}), {["secret-literal", "error", "/code"]}],
		"pem": [fixture.documented(fixture.plain, {"strings": [{"text": concat("", ["-----BEGIN RSA ", "PRIVATE KEY-----"]), "line": 3, "column": 5}]}), {["secret-literal", "error", "/code"]}],
		"bearer": [fixture.documented(fixture.plain, {"strings": [{"text": concat("", ["Bearer ", "abcdefghijklmnopqrstuvwxyz"]), "line": 3, "column": 5}]}), {["secret-literal", "error", "/code"]}],
		"password": [fixture.documented(fixture.plain, {"strings": [{"text": concat("", ["https://me:hunter2", "@a.example/"]), "line": 3, "column": 5}]}), {["secret-literal", "error", "/code"]}],
		"in a static variable": [fixture.documented(fixture.plain, {"staticVariables": [{"key": "a", "value": concat("", ["AKIA", "ABCDEFGHIJKLMNOP"])}]}), {["secret-literal", "error", "/staticVariables/0"]}],
		"by the name of the variable": [fixture.documented(fixture.plain, {"staticVariables": [{"key": "apiKey", "value": "correct horse"}]}), {["secret-literal", "error", "/staticVariables/0"]}],
		"by both": [fixture.documented(fixture.plain, {"staticVariables": [{"key": "apiKey", "value": concat("", ["AKIA", "ABCDEFGHIJKLMNOP"])}]}), {["secret-literal", "error", "/staticVariables/0"]}],
		"a placeholder is right": [fixture.documented(fixture.plain, {"staticVariables": [{"key": "apiKey", "value": "${WEATHER_KEY}"}]}), set()],
		"one to be filled": [fixture.documented(fixture.plain, {"staticVariables": [{"key": "apiKey", "value": "<your key>"}]}), set()],
		"too short to be one": [fixture.documented(fixture.plain, {"staticVariables": [{"key": "token", "value": "none"}]}), set()],
		"a published example": [fixture.documented(fixture.plain, {"params": [{"name": "a", "type": "STRING", "description": "", "testValue": concat("", ["key=AKIA", "IOSFODNN7EXAMPLE and more"])}]}), set()],
		"a published example beside another": [fixture.documented(fixture.plain, {"params": [{"name": "a", "type": "STRING", "description": "", "testValue": concat("", ["AKIA", "IOSFODNN7EXAMPLE AKIA", "ABCDEFGHIJKLMNOP"])}]}), {["secret-literal", "error", "/params/0/testValue"]}],
		"in a test value": [fixture.documented(fixture.plain, {"params": [{"name": "a", "type": "STRING", "description": "", "testValue": concat("", ["AKIA", "ABCDEFGHIJKLMNOP"])}]}), {["secret-literal", "error", "/params/0/testValue"]}],
		"an ordinary test value": [fixture.documented(fixture.plain, {"params": [{"name": "a", "type": "STRING", "description": "", "testValue": "Seoul"}]}), set()],
		"in the description": [fixture.documented(fixture.plain, {"description": concat(" ", ["Returns a number.", "Log in as admin:hunter2@db.internal.example"])}), {["secret-in-text", "error", "/description"]}],
		"a static value in the description": [fixture.documented(fixture.plain, {"description": "Asks the server alpha-nine. Returns a number.", "staticVariables": [{"key": "server", "value": "alpha-nine"}]}), {["secret-in-text", "error", "/description"]}],
		"a mail address is none": [fixture.documented(fixture.plain, {"description": "Ask me@a.example. Returns a number."}), set()],
	}
	found := {[f.id, f.severity, f.pointer] | some f in lint.findings} with input as tc[0]
	found == tc[1]
}

hexadecimal := concat("", ["0f1e2d3c4b5a6978", "8796a5b4c3d2e1f0"])

# Values under a name, as the code has them.
test_named_secrets[note] if {
	some note, tc in {
		"a password": ["password", concat("", ["S3cret", "Passw0rd!"]), true],
		"a short one": ["dbPassword", concat("", ["hunter", "2"]), true],
		"signs and letters": ["pwd", "correct#horse", true],
		"a key": ["apiKey", hexadecimal, true],
		"a header": ["X-Api-Key", concat("", ["k7", "Zq99aPw2"]), true],
		"screaming": ["CLIENT_SECRET", hexadecimal, true],
		"basic": ["Authorization", concat("", ["Basic ", "dXNlcjpodW50ZXIy"]), true],
		"a token": ["accessToken", hexadecimal, true],
		"no password in it": ["password", "password", false],
		"a label": ["password", "Your password 1", false],
		"a placeholder": ["apiKey", "xxxxxxxx1234", false],
		"a placeholder to fill": ["apiKey", "<your key 123>", false],
		"a variable": ["apiKey", "${API_KEY_1234}", false],
		"an example": ["token", "example-1234", false],
		"empty": ["password", "", false],
		"a name of a page": ["nextToken", "page-2-token", false],
		"an algorithm": ["secret", "HMAC-SHA256", false],
		"an address": ["tokenUrl", "https://a.example/oauth2/token123", false],
		"another name": ["cacheKey", hexadecimal, false],
	}
	found := {[f.id, f.severity, f.line, f.column] | some f in lint.findings} with input as fixture.documented(fixture.plain, {
		"strings": [{"text": tc[1], "line": 2, "column": 7}],
		"namedStrings": [{"name": tc[0], "text": tc[1], "line": 2, "column": 7}],
	})
	found == {["secret-literal", "error", 2, 7] | tc[2]}
}

test_named_by_its_form if {
	value := concat("", ["AKIA", "ABCDEFGHIJKLMNOP"])
	found := {f.message | some f in lint.findings} with input as fixture.documented(fixture.plain, {
		"strings": [{"text": value, "line": 2, "column": 7}],
		"namedStrings": [{"name": "apiKey", "text": value, "line": 2, "column": 7}],
	})
	count(found) == 1
}

# What a text says.
test_told_secrets[note] if {
	some note, tc in {
		"an assignment": [["API_KEY=", "a1b2c3d4e5"], true],
		"a token": [["token=", hexadecimal], true],
		"a query": [["See https://a.example/x?api_key=", hexadecimal, "&q=1"], true],
		"a password": [["password: ", "Winter", "2024!"], true],
		"in a sentence": [["the password is ", "hunter", "2hunter"], true],
		"in JSON": [["{\"client_secret\": \"", hexadecimal, "\"}"], true],
		"a long one": [["token: ", "abc1def2ghi3jkl4mno5pqr6"], true],
		"basic": [["Authorization: Basic ", "dXNlcjpodW50ZXIy"], true],
		"a type": [["password: string"], false],
		"a form": [["token: base64-encoded"], false],
		"a length": [["api_key=32-characters"], false],
		"a digest": [["secret: SHA-256 of the body"], false],
		"a placeholder": [["?api_key=YOUR_KEY_123"], false],
		"to be filled": [["api_key=<key123>"], false],
		"a variable": [["api_key=${API_KEY1234}"], false],
		"a version": [["the token is v2-opaque"], false],
		"a word": [["tokenizer: BPE2048abc"], false],
	}
	text := concat("", tc[0])
	in_code := {[f.id, f.pointer] | some f in lint.findings} with input as fixture.documented(fixture.plain, {"strings": [{"text": text, "line": 1, "column": 1}]})
	in_code == {["secret-literal", "/code"] | tc[1]}
	in_prose := {[f.id, f.pointer] | some f in lint.findings} with input as fixture.documented(fixture.plain, {"description": concat("", ["Returns a number with ", text])})
	in_prose == {["secret-in-text", "/description"] | tc[1]}
	in_reason := {[f.id, f.pointer] | some f in lint.findings} with input as fixture.documented(fixture.plain, {"reasons": ["agreed", text]})
	in_reason == {["secret-in-text", "/x-toolwarrant-lint/1/reason"] | tc[1]}
}
