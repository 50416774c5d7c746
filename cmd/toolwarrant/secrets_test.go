package main

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// secretCorpus are values of the kinds that people have, and of any kind: the
// same ones at each run.
func secretCorpus() []string {
	out := []string{
		"hunter2!", "a/b+c==d", `quo"ted\pass`, "schlüssel-geheim", "비밀번호-1234", "p@ss word&more", "<tag>&'x'",
		"-----BEGIN KEY-----\nMIIEvQIBADANBgkq\nhkiG9w0BAQEF\"AA\n-----END KEY-----\n",
		"encoded%2Fkey%2Bvalue%3D%3D", "4829103347", "tab\tand\u2028line", "$2b$12$abc./DEF",
	}
	r := rand.New(rand.NewPCG(7, 11))
	for i := range 28 {
		letters := []rune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
		if i%3 == 0 {
			letters = append(letters, []rune(`"\/+&%=<>'@:;,.-_ ~é漢`)...)
		}
		var b strings.Builder
		for range 5 + r.IntN(40) {
			b.WriteRune(letters[r.IntN(len(letters))])
		}
		out = append(out, strings.TrimSpace(b.String())+"Zq")
	}
	return out
}

// secretForms are those in which a value must not be found. What is so short
// that it turns up by chance is left out.
func secretForms(v string) []string {
	quoted, _ := json.Marshal(v)
	body := string(quoted[1 : len(quoted)-1])
	twice, _ := json.Marshal(body)
	std := base64.StdEncoding.EncodeToString([]byte(v))
	forms := []string{v, body, string(twice[1 : len(twice)-1]), url.QueryEscape(v), url.PathEscape(v)}
	for _, long := range []string{std, base64.StdEncoding.EncodeToString([]byte(body)), base64.StdEncoding.EncodeToString([]byte(std)), hex.EncodeToString([]byte(v))} {
		if long = strings.TrimRight(long, "="); len(long) > 8 {
			forms = append(forms, long[:len(long)-2]) // what follows may change the last letters
		}
	}
	for line := range strings.Lines(v) {
		if line = strings.TrimSpace(line); len(line) >= 8 && !strings.HasPrefix(line, "-----") {
			forms = append(forms, line)
		}
	}
	return forms
}

const formsInCode = `const b64 = (t) => btoa(String.fromCharCode(...new TextEncoder().encode(t)));
const hex = (t) => [...new TextEncoder().encode(t)].map((b) => b.toString(16).padStart(2, "0")).join("");
const forms = (v) => [v, JSON.stringify(v), JSON.stringify(JSON.stringify({ v })), JSON.stringify({ e: JSON.stringify({ e: JSON.stringify({ v }) }) }),
  encodeURIComponent(v), new URLSearchParams({ v }).toString(), b64(v), b64("user:" + v + "!"), b64(JSON.stringify({ v })), b64(b64(v)), hex(v), v.split("\n").join("\r\n"), v.split("\n").join(" | ")];
const all = [%s];
const said = all.map(forms);
`

// TestSecretsOfAnyKind: whatever a secret looks like, and in whichever way the
// code writes it, it is in no answer, no notification, no file of the home and
// no log of the server.
func TestSecretsOfAnyKind(t *testing.T) {
	home, dir := t.TempDir(), t.TempDir()
	corpus := secretCorpus()
	var statics []any
	var names, grants, env []string
	for i, v := range corpus {
		name := fmt.Sprintf("ANY_%02d", i)
		statics = append(statics, map[string]any{fmt.Sprintf("s%02d", i): "${" + name + "}"})
		names = append(names, fmt.Sprintf("s%02d", i))
		if strings.Contains(v, "\n") || i%2 == 0 {
			env = append(env, name+"="+v)
		} else {
			grants = append(grants, fmt.Sprintf("%s: %q", name, v))
		}
	}
	if err := os.MkdirAll(home, 0o700); err != nil {
		t.Fatal(err)
	}
	// The values of this file are where they belong; it is not looked at below.
	secrets := filepath.Join(t.TempDir(), "secrets.yaml")
	if err := os.WriteFile(secrets, []byte(strings.Join(grants, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	code := fmt.Sprintf(formsInCode, strings.Join(names, ", "))
	extra := func(more map[string]any) map[string]any {
		out := map[string]any{"staticVariables": statics, "params": []any{map[string]any{"name": "text", "type": "STRING", "required": false}}}
		for k, v := range more {
			out[k] = v
		}
		return out
	}
	tool(t, dir, "returns", code+`console.log(said.flat().join(" ")); console.error(JSON.stringify(said)); return { said, [all[0]]: Object.fromEntries(all.map((v) => [v, 1])) };`, extra(nil))
	tool(t, dir, "throws", code+`throw new Error(said.flat().slice(Number(text) * 40, Number(text) * 40 + 40).join(" "));`, extra(nil))
	tool(t, dir, "fetches", code+`const out = [];
for (const v of all) for (const u of ["https://ok.example/?k=" + encodeURIComponent(v), "https://" + encodeURIComponent(v) + ".example/"])
  try { fetch(u, { headers: { authorization: "Bearer " + encodeURIComponent(v) } }) } catch (e) { out.push(e.message, String(e.stack)) }
return out;`, extra(map[string]any{"sandboxOverrides": map[string]any{"networkMode": "allowlist", "hostsAllow": []any{"ok.example"}}}))
	tool(t, dir, "asks", code+`return text;`, extra(map[string]any{"humanInTheLoop": map[string]any{"mode": "REQUIRED", "promptTemplate": "Say {text}?"}}))
	config := filepath.Join(t.TempDir(), "config.yaml")
	settings := fmt.Sprintf("secrets:\n  file: %q\n  grants:\n    - names: [\"ANY_*\"]\n      tools: [returns, throws, fetches, asks]\n", secrets)
	if err := os.WriteFile(config, []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	sink := filepath.Join(t.TempDir(), "whsec")
	if err := os.WriteFile(sink, []byte(hookSecret), 0o600); err != nil {
		t.Fatal(err)
	}
	// A sink that nobody answers keeps its records in the home.
	env = append(env, "TOOLWARRANT_AUDIT_SINKS="+fmt.Sprintf(`[{"type":"webhook","name":"far","url":"http://127.0.0.1:1/","secret-file":%q,"required":false}]`, sink))
	p := serve(t, home, env, "--config", config, "--catalog", dir)
	w := stateless(t, p.url)
	var answers strings.Builder
	note := func(res map[string]any) map[string]any {
		raw, err := json.Marshal(res)
		if err != nil {
			t.Fatal(err)
		}
		answers.Write(raw)
		answers.WriteByte('\n')
		return res
	}
	if res := note(w.callTool("returns", nil, nil, cannot, nil)); res["isError"] == true || !strings.Contains(answers.String(), "***") {
		t.Fatalf("answered %.500s", answers.String())
	}
	for i := range 13 {
		note(w.callTool("throws", map[string]any{"text": fmt.Sprint(i)}, nil, cannot, nil))
	}
	note(w.callTool("fetches", nil, nil, cannot, nil))
	if res := note(w.callTool("asks", map[string]any{"text": "x"}, nil, cannot, nil)); failure(res).str("code") != "APPROVAL_PENDING" {
		t.Fatalf("answered %v", res)
	}
	for i, v := range corpus { // what a model knows already, in arguments and in what a human is shown
		quoted, _ := json.Marshal(v)
		if i%6 == 0 {
			note(w.callTool("returns", map[string]any{"text": v + " " + string(quoted)}, nil, cannot, nil))
		}
		note(w.callTool("nobody", map[string]any{"text": v + " " + string(quoted)}, nil, cannot, nil))
		note(w.callTool("asks", map[string]any{"text": v + " " + url.QueryEscape(v) + " " + base64.StdEncoding.EncodeToString([]byte(v))}, nil, cannot, nil))
	}
	p.stop()
	verifyWhole(t, home)
	var all []string
	for _, v := range corpus {
		all = append(all, secretForms(v)...)
	}
	for _, form := range all {
		if i := strings.Index(answers.String(), form); i >= 0 {
			t.Errorf("an answer holds %q: %.200s", form, answers.String()[max(0, i-60):])
		}
	}
	nowhere(t, home, p.log.String(), all...)
}
