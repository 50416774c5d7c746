package spec

import "testing"

func TestNearMiss(t *testing.T) {
	for field, want := range map[string]string{
		"descripton": "description", "sandboxoverride": "sandboxOverrides", "sandbox": "sandboxOverrides", "inputSchema": "params",
		"parameters": "params", "hitl": "humanInTheLoop", "hostsAllow": "sandboxOverrides.hostsAllow", "fileread": "sandboxOverrides.fileRead",
		"networkmode": "sandboxOverrides.networkMode", "x-sandbox": "", "x-hostsAllow": "", "vendor": "", "owner": "", "version": "", "source": "", "id": "", "": "",
	} {
		if got := NearMiss(field); got != want {
			t.Errorf("NearMiss(%q) = %q, want %q", field, got, want)
		}
	}
}
