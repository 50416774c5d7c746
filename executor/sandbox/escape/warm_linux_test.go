package escape

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
)

// warmAttacks are programs that want more of an interpreter that is kept
// loaded than their own run of it. Each prints what it found.
var warmAttacks = []struct{ name, code, want string }{
	{"descriptors", `import os; print(sorted(int(f) for f in os.listdir('/proc/self/fd') if os.path.lexists('/proc/self/fd/' + f)))`, "[0, 1, 2]\n"},
	{"environment", `import os; print(sorted(os.environ))`, "['GIVEN', 'HOME', 'LANG', 'PATH']\n"},
	{"leave in modules", `import builtins, os, json, sys; builtins.leak = 1; os.leak = 1; json.loads = None; sys.path.insert(0, '/work'); os.environ['LEAK'] = '1'; os.umask(0); os.chdir('/'); print('left')`, "left\n"},
	{"find in modules", `import builtins, os, json, sys; print(hasattr(builtins, 'leak'), hasattr(os, 'leak'), json.loads is None, '/work' in sys.path, 'LEAK' in os.environ, oct(os.umask(0o22)), os.getcwd())`, "False False False False False 0o22 /scratch\n"},
	{"memory of the server", "import os\ntry:\n\topen('/proc/%d/mem' % os.getppid(), 'r+b')\n\tprint('open')\nexcept OSError as e:\n\tprint('held')", "held\n"},
	{"end the server", `import os, signal; os.kill(os.getppid(), signal.SIGKILL)`, ""},
	{"after the end of the server", `print(1)`, "1\n"},
	{"stop the server", `import os, signal; os.kill(os.getppid(), signal.SIGSTOP)`, ""},
	{"after the stop of the server", `print(1)`, "1\n"},
	{"replace its modules", `open('/scratch/json.py', 'w').write('evil = 1'); open('/scratch/sitecustomize.py', 'w').write('print("evil")'); print('left')`, "left\n"},
	{"see its modules", `import sys; sys.path.remove('') if '' in sys.path else None; import json; print(hasattr(json, 'evil'))`, "False\n"},
}

// TestWarmInterpreter runs them in an interpreter that is kept loaded.
func TestWarmInterpreter(t *testing.T) {
	r := newRig(t)
	if _, err := os.Stat(python); err != nil {
		t.Skip("there is no " + python)
	}
	for _, f := range factories(t) {
		t.Run(f.ID(), func(t *testing.T) {
			spec := r.spec()
			spec.Warm, spec.Limits.Timeout = "python", 3*time.Second
			sb, err := f.Create(t.Context(), spec)
			if err == nil {
				defer sb.Close()
				err = sb.Start(t.Context())
			}
			if err != nil {
				t.Skipf("it refuses: %v", err)
			}
			for _, a := range warmAttacks {
				res, err := sb.Exec(t.Context(), sandbox.Command{Argv: []string{"python3", "-c", a.code}})
				if err != nil || a.want != "" && string(res.Stdout) != a.want {
					t.Errorf("%s: %q, %v %.300s; want %q", a.name, res.Stdout, err, res.Stderr, a.want)
				}
			}
			must(t, sb.Reset(t.Context()))
			res := exec1(t, sb, sandbox.Command{Argv: []string{"python3", "-c", "import os, json; print(os.listdir('/scratch'), json.loads('1'))"}})
			if strings.TrimSpace(string(res.Stdout)) != "[] 1" {
				t.Errorf("after Reset: %q %.300s", res.Stdout, res.Stderr)
			}
		})
	}
}
