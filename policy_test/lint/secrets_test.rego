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
		"too short to be one": [fixture.documented(fixture.plain, {"staticVariables": [{"key": "token", "value": "none"}]}), set()],
		"in a test value": [fixture.documented(fixture.plain, {"params": [{"name": "a", "type": "STRING", "description": "", "testValue": concat("", ["AKIA", "ABCDEFGHIJKLMNOP"])}]}), {["secret-literal", "error", "/params/0/testValue"]}],
		"an ordinary test value": [fixture.documented(fixture.plain, {"params": [{"name": "a", "type": "STRING", "description": "", "testValue": "Seoul"}]}), set()],
		"in the description": [fixture.documented(fixture.plain, {"description": concat(" ", ["Returns a number.", "Log in as admin:hunter2@db.internal.example"])}), {["secret-in-text", "error", "/description"]}],
		"a static value in the description": [fixture.documented(fixture.plain, {"description": "Asks the server alpha-nine. Returns a number.", "staticVariables": [{"key": "server", "value": "alpha-nine"}]}), {["secret-in-text", "error", "/description"]}],
		"a mail address is none": [fixture.documented(fixture.plain, {"description": "Ask me@a.example. Returns a number."}), set()],
	}
	found := {[f.id, f.severity, f.pointer] | some f in lint.findings} with input as tc[0]
	found == tc[1]
}
