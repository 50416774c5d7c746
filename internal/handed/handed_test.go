package handed

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// TestBySystemd: what systemd hands to a service that is not root's
// has the mode 0440. Nothing else may have it.
func TestBySystemd(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files have no mode there")
	}
	put := func(dir string, folder, file os.FileMode) string {
		t.Helper()
		name := filepath.Join(dir, "secret")
		if err := os.WriteFile(name, []byte("whsec_x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(name, file); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, folder); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.Chmod(dir, 0o700) })
		return name
	}
	for name, tc := range map[string]struct {
		folder, file os.FileMode
		given        func(dir string) string
		good         bool
	}{
		"handed":                 {0o550, 0o440, func(dir string) string { return dir }, true},
		"with a slash":           {0o550, 0o440, func(dir string) string { return dir + "/" }, true},
		"no service":             {0o550, 0o440, func(string) string { return "" }, false},
		"another folder":         {0o550, 0o440, func(string) string { return t.TempDir() }, false},
		"a folder above":         {0o550, 0o440, filepath.Dir, false},
		"relative":               {0o550, 0o440, func(string) string { return "." }, false},
		"others can read it":     {0o550, 0o444, func(dir string) string { return dir }, false},
		"the group can write it": {0o550, 0o460, func(dir string) string { return dir }, false},
		"a folder for all":       {0o755, 0o440, func(dir string) string { return dir }, false},
	} {
		dir := t.TempDir()
		file := put(dir, tc.folder, tc.file)
		t.Setenv("CREDENTIALS_DIRECTORY", tc.given(dir))
		st, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if BySystemd(file, st.Mode()) != tc.good {
			t.Errorf("%s: want %v", name, tc.good)
		}
	}
}
