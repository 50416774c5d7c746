package spec

import (
	"sync"
	"testing"
)

// The golden digests were computed apart from this program: SHA-256 of the
// JSON with sorted keys and no white space. They are a contract: approvals and
// audit records refer to them for ever.
func TestGoldenDigest(t *testing.T) {
	full := must(t, `{
		"toolId": "id", "x-toolwarrant-profile": "strict", "x-acme": 1, "draft": false, "createTimestamp": 5,
		"name": "t", "description": "d \u00e9", "category": "WEB", "tags": ["util"],
		"params": [
			{"testValue": "x", "name": "b", "required": true, "type": "STRING", "description": null},
			{"name": "a", "description": "n", "required": false, "type": "INTEGER"}
		],
		"staticVariables": [{"k": "${K}"}, {"k": "v"}],
		"code": "return 1", "codeType": "Javascript",
		"sandboxOverrides": {"networkMode": "allowlist", "hostsAllow": ["b.example", "a.example"], "fileRead": false, "fileWrite": null, "addDenyClasses": []},
		"humanInTheLoop": {"mode": "REQUIRED", "promptTemplate": null},
		"toolSafety": {"version": "1.0"},
		"x-toolwarrant-mask": {"z": 1.0, "a": [1, 25e-1]}
	}`)
	if got, want := full.Digest(), "sha256:87245da0d51843bc2e7829abd0258183ed726d1ef438ba513c850f62cd9e23dd"; got != want {
		t.Errorf("digest = %s, want %s", got, want)
	}
	if got, want := must(t, `{"name":"t","code":"return 1","codeType":"Javascript"}`).Digest(), "sha256:aa8dc4172269466cadcc3baef1d1a4b34de3d62122a5bcb0fa27cba3d2dc5a00"; got != want {
		t.Errorf("digest of the least document = %s, want %s", got, want)
	}
}

func TestDigestEquality(t *testing.T) {
	base := must(t, `{"name":"t","code":"1","codeType":"Javascript"}`).Digest()
	same := map[string]string{
		"empty block":     `"sandboxOverrides":{}`,
		"block of nulls":  `"sandboxOverrides":{"fileRead":null,"addAllowClasses":[]}`,
		"empty lists":     `"tags":[],"params":[],"staticVariables":[]`,
		"empty text":      `"description":"","category":""`,
		"draft":           `"draft":false`,
		"toolId":          `"toolId":"x"`,
		"toolSafety":      `"toolSafety":{"version":"1.0"}`,
		"timestamps":      `"createTimestamp":1,"updateTimestamp":2`,
		"a vendor's":      `"x-acme-cost":1`,
		"null of our own": `"x-toolwarrant-profile":null`,
	}
	for name, m := range same {
		if got := must(t, `{"name":"t","code":"1","codeType":"Javascript",`+m+`}`).Digest(); got != base {
			t.Errorf("%s changes the digest", name)
		}
	}
	differ := map[string]string{
		"explicit false": `"sandboxOverrides":{"fileRead":false}`,
		"explicit true":  `"sandboxOverrides":{"destructive":true}`,
		"mode":           `"humanInTheLoop":{"mode":"DISABLED"}`,
		"test value":     `"params":[{"name":"a","required":false,"type":"STRING","testValue":""}]`,
		"our extension":  `"x-toolwarrant-profile":"p"`,
		"static":         `"staticVariables":[{"a":"1"}]`,
	}
	seen := map[string]string{base: "base"}
	for name, m := range differ {
		got := must(t, `{"name":"t","code":"1","codeType":"Javascript",`+m+`}`).Digest()
		if seen[got] != "" {
			t.Errorf("%s has the digest of %s", name, seen[got])
		}
		seen[got] = name
	}
}

// One Spec is shared by all calls of a tool.
func TestConcurrentUse(t *testing.T) {
	s := must(t, `{"name":"t","code":"return fetch('x')","codeType":"Javascript"}`)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if s.Digest() == "" || len(s.Facts().Helpers) != 1 || len(s.CheckCode()) != 0 || s.InputSchema() == nil {
				t.Error("wrong answer under concurrency")
			}
		})
	}
	wg.Wait()
}
