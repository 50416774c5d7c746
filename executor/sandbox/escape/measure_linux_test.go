package escape

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/process"
)

var ratios = flag.Bool("ratios", false, "measure, and hold the times to what is promised")

// quietBubblewrap is what bubblewrap takes on the machine that the limits were
// set for. Where it takes longer all limits grow with it: 10 ms are then 1.8
// times what bubblewrap takes in the same run.
const quietBubblewrap = 5550 * time.Microsecond

// quietRunc is the same for containers, which runc makes.
const quietRunc = 27500 * time.Microsecond

// A cost is one thing that is measured, each round once.
type cost struct {
	name  string
	limit time.Duration // 0: only shown
	once  func() error
	apart bool // goes on in the background afterwards, which must not meet the others
	took  []time.Duration
}

func (c *cost) p50() time.Duration {
	slices.Sort(c.took)
	return c.took[len(c.took)/2]
}

// TestCosts measures what a sandbox costs beside a plain process, bubblewrap
// and runc, all of them in turns, so that the load of the machine meets each
// alike.
func TestCosts(t *testing.T) {
	if !*ratios {
		t.Skip("measures; -ratios asks for it")
	}
	r := newRig(t)
	costs := slices.Concat(r.plainCosts(t), r.processCosts(t), r.otherCosts(t))
	const rounds = 31
	measure := func(c *cost) {
		began := time.Now()
		if err := c.once(); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		c.took = append(c.took, time.Since(began))
	}
	for range rounds {
		for _, c := range costs {
			if !c.apart {
				measure(c)
			}
		}
	}
	for _, c := range costs {
		for range rounds {
			if c.apart {
				measure(c)
				time.Sleep(100 * time.Millisecond)
			}
		}
	}
	slow, slowRunc := 1.0, 1.0
	for _, c := range costs {
		switch c.name {
		case bubblewrap:
			slow = max(1, float64(c.p50())/float64(quietBubblewrap))
		case runc:
			slowRunc = max(1, float64(c.p50())/float64(quietRunc))
		}
	}
	t.Logf("the machine is %.2f times as slow as the limits were set for by bubblewrap, %.2f times by runc", slow, slowRunc)
	for _, c := range costs {
		p50, limit := c.p50(), time.Duration(float64(c.limit)*slow)
		if strings.HasPrefix(c.name, "container,") {
			limit = time.Duration(float64(c.limit) * slowRunc)
		}
		t.Logf("%-42s p50 %8.2f ms, least %8.2f ms, limit %.0f ms", c.name, ms(p50), ms(c.took[0]), ms(c.limit))
		if c.limit > 0 && p50 > limit {
			t.Errorf("%s: p50 %v, over %v", c.name, p50, limit)
		}
	}
}

const bubblewrap, runc = "bubblewrap, sh", "runc, sh"

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func runs(argv ...string) func() error {
	return func() error {
		c := exec.Command(argv[0], argv[1:]...)
		c.Env = []string{"PATH=/usr/bin:/bin:/usr/sbin:/sbin"}
		out, err := c.CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	}
}

const python = "/usr/bin/python3"

func (r *rig) plainCosts(t *testing.T) []*cost {
	list := []*cost{{name: "plain process, sh", once: runs("/bin/sh", "-c", "true")}}
	_, err := os.Stat(python)
	hasPython := err == nil
	if hasPython {
		list = append(list, &cost{name: "plain process, python", once: runs(python, "-c", "print(1)")})
	}
	if sh := bubblewrapCost("/bin/sh", "-c", "true"); sh != nil {
		sh.name = bubblewrap
		list = append(list, sh)
		if hasPython {
			list = append(list, bubblewrapCost(python, "-c", "print(1)"))
		}
	} else {
		t.Log("bubblewrap is not here: the limits are not made wider for a slow machine")
	}
	if path, err := exec.LookPath("runc"); err == nil && os.Getuid() == 0 {
		n := 0
		bundle := r.bundle(t, path, "cost", []string{"/bin/sh", "-c", "true"})
		list = append(list, &cost{name: runc, once: func() error {
			n++
			return runs(path, "--root", filepath.Join(r.home, "runc"), "run", "--bundle", bundle, "cost"+strconv.Itoa(n))()
		}})
	}
	return list
}

// bubblewrapCost runs argv in a typical bubblewrap; nil where there is none.
func bubblewrapCost(argv ...string) *cost {
	path, err := exec.LookPath("bwrap")
	if err != nil {
		return nil
	}
	args := []string{path, "--unshare-all", "--die-with-parent", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"}
	for _, dir := range hostFolders() {
		args = append(args, "--ro-bind", dir, dir)
	}
	return &cost{name: "bubblewrap, " + filepath.Base(argv[0]), once: runs(slices.Concat(args, []string{"--"}, argv)...)}
}

// cold makes a sandbox, runs one command in it, and takes it away.
func cold(f sandbox.Factory, spec sandbox.Spec, c sandbox.Command) func() error {
	return func() error {
		sb, err := f.Create(context.Background(), spec)
		if err != nil {
			return err
		}
		defer sb.Close()
		return again(sb, c)()
	}
}

// again runs a command in a sandbox that there is.
func again(sb sandbox.Sandbox, c sandbox.Command) func() error {
	return func() error {
		res, err := sb.Exec(context.Background(), c)
		if err == nil && res.ExitCode != 0 {
			err = fmt.Errorf("code %d: %s", res.ExitCode, res.Stderr)
		}
		return err
	}
}

// costSpec has everything on that a default one has.
func costSpec() sandbox.Spec {
	return sandbox.Spec{Limits: sandbox.Standard(), AllowPartial: os.Getuid() != 0}
}

var shell, pythonCommand = sandbox.Shell("true"), sandbox.Command{Argv: []string{"python3", "-c", "print(1)"}}

func (r *rig) processCosts(t *testing.T) []*cost {
	small := process.New(process.Options{Agent: agentProgram(t)})
	big := process.New(process.Options{Stash: -1})
	stash := process.New(process.Options{})
	for _, f := range []*process.Factory{small, big, stash} {
		t.Cleanup(func() { closeFactory(f) })
	}
	warm := started(t, small, costSpec())
	list := []*cost{
		{name: "process, sh", limit: 10 * time.Millisecond, once: cold(small, costSpec(), shell)},
		{name: "process, sh, warm", limit: 2 * time.Millisecond, once: again(warm, shell)},
		{name: "process, sh, the one binary", limit: 35 * time.Millisecond, once: cold(big, costSpec(), shell)},
		{name: "process, sh, the one binary started ahead", limit: 10 * time.Millisecond, apart: true, once: cold(stash, costSpec(), shell)},
	}
	if _, err := os.Stat(python); err == nil {
		spec := costSpec()
		spec.Warm = "python"
		interpreter := started(t, small, spec)
		list = append(list,
			&cost{name: "process, python", limit: 30 * time.Millisecond, once: cold(small, costSpec(), pythonCommand)},
			&cost{name: "process, python, kept loaded", limit: 5 * time.Millisecond, once: again(interpreter, pythonCommand)})
	}
	return list
}

func (r *rig) otherCosts(t *testing.T) []*cost {
	var list []*cost
	limit := map[string]time.Duration{"container": 45 * time.Millisecond}
	for _, f := range factories(t) {
		if id := f.ID(); id == "container" || id == "gvisor" {
			list = append(list,
				&cost{name: id + ", sh", limit: limit[id], once: cold(f, costSpec(), shell)},
				&cost{name: id + ", sh, warm", once: again(started(t, f, costSpec()), shell)})
		}
	}
	return list
}

func started(t *testing.T, f sandbox.Factory, spec sandbox.Spec) sandbox.Sandbox {
	t.Helper()
	sb, err := f.Create(t.Context(), spec)
	must(t, err)
	t.Cleanup(func() { _ = sb.Close() })
	must(t, sb.Start(t.Context()))
	return sb
}

func closeFactory(f sandbox.Factory) {
	if c, ok := f.(interface{ Close() error }); ok {
		_ = c.Close()
	}
}
