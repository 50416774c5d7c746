package container

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/elastic/go-seccomp-bpf"
	"github.com/google/go-cmp/cmp"
	"github.com/opencontainers/runtime-spec/specs-go"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/image"
)

var update = flag.Bool("update", false, "write the golden files")

// TestConfig keeps what a runtime is told: a change of it is a change of what
// is enforced.
func TestConfig(t *testing.T) {
	base := plan{
		id: "tw-1", rootfs: "/b/rootfs", agent: "/usr/bin/agent", binds: []bind{{"/usr", "/usr", false}, {"/i/etc", "/etc", true}},
		network: sandbox.DenyAll{}, limits: sandbox.Standard(), idBase: 100000, cgroups: true, cgroup: "toolwarrant/tw-1", openFiles: 1024, processes: 2048,
	}
	rootless := base
	rootless.idBase, rootless.uid, rootless.gid, rootless.cgroups, rootless.network = -1, 1001, 1002, false, sandbox.Inherit{}
	for name, p := range map[string]plan{"root": base, "rootless": rootless} {
		got, err := json.MarshalIndent(p.config(), "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		golden(t, name+".json", append(got, '\n'))
	}
	got := strings.Join(base.engineArgs("", "/b/seccomp.json"), "\n") + "\n---\n" + strings.Join(rootless.engineArgs("alpine:3", ""), "\n") + "\n"
	golden(t, "engine.txt", []byte(got))
	kernel, engine := base, base
	kernel.kind, kernel.nothing = gvisor, "/b/nothing"
	got2, err := json.MarshalIndent(kernel.config(), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "gvisor.json", append(got2, '\n'))
	engine.kind = docker
	got = strings.Join(engine.dockerArgs("", "/b/seccomp.json"), "\n") + "\n---\n" + strings.Join(kernel.kernelArgs("/b", "/b/tw-1", "/b/tw-1/pid"), "\n") + "\n"
	golden(t, "streamed.txt", []byte(got))
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// TestConfigRules holds what must be so in every configuration.
func TestConfigRules(t *testing.T) {
	p := plan{network: sandbox.DenyAll{}, limits: sandbox.Limits{CPUShares: 0.001, MemoryMB: 10, DiskMB: 5}, cgroups: true}
	c := p.config()
	if q := *c.Linux.Resources.CPU.Quota; q < 1000 {
		t.Errorf("a quota of %d is below what the kernel takes", q)
	}
	if c.Linux.Resources.Pids != nil {
		t.Error("no limit of processes became one")
	}
	if m := c.Linux.Resources.Memory; *m.Limit != 31<<20 || *m.Swap != *m.Limit {
		t.Errorf("memory %d, with swap %d", *m.Limit, *m.Swap)
	}
	for _, m := range c.Mounts {
		if !slices.Contains(m.Options, "nosuid") || m.Destination != "/dev" && !slices.Contains(m.Options, "nodev") {
			t.Errorf("%s is mounted %v", m.Destination, m.Options)
		}
	}
	if !c.Process.NoNewPrivileges || !c.Root.Readonly || len(c.Process.Capabilities.Ambient)+len(c.Process.Capabilities.Inheritable) > 0 {
		t.Error("a right too many")
	}
}

func TestOuterFilter(t *testing.T) {
	bits := func(n uint32, op seccomp.Operation, v uint64) seccomp.Condition {
		return seccomp.Condition{Argument: n, Operation: op, Value: v}
	}
	out := outerFilter(seccomp.Policy{DefaultAction: seccomp.ActionErrno, Syscalls: []seccomp.SyscallGroup{
		{Action: seccomp.ActionAllow, Names: []string{"read", "mount"}, NamesWithCondtions: []seccomp.NameWithConditions{
			{Name: "ioctl", Conditions: []seccomp.Condition{bits(1, seccomp.NotEqual, 5), bits(1, seccomp.NotEqual, 6)}},
			{Name: "mknod", Conditions: []seccomp.Condition{bits(1, seccomp.BitsNotSet, 2), bits(1, seccomp.BitsSet, 1)}},
			{Name: "clone", Conditions: []seccomp.Condition{bits(0, seccomp.BitsNotSet, 7)}},
			{Name: "personality", Conditions: []seccomp.Condition{bits(0, seccomp.Equal, 0)}},
		}},
		{Action: seccomp.ActionErrno | 38, Names: []string{"clone3"}},
	}})
	perm, nosys := uint(1), uint(38)
	want := []specs.LinuxSyscall{
		{Names: preparing, Action: specs.ActAllow},
		{Names: []string{"read"}, Action: specs.ActAllow},
		{Names: []string{"ioctl"}, Action: specs.ActAllow}, // cannot be said, so wider
		{Names: []string{"mknod"}, Action: specs.ActAllow, Args: []specs.LinuxSeccompArg{{Index: 1, Op: specs.OpMaskedEqual, Value: 3, ValueTwo: 1}}},
		{Names: []string{"personality"}, Action: specs.ActAllow, Args: []specs.LinuxSeccompArg{{Op: specs.OpEqualTo}}},
		{Names: []string{"clone3"}, Action: specs.ActErrno, ErrnoRet: &nosys},
	}
	if diff := cmp.Diff(want, out.Syscalls); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(&perm, out.DefaultErrnoRet); diff != "" || out.DefaultAction != specs.ActErrno {
		t.Errorf("%s %s", out.DefaultAction, diff)
	}
}

// TestFurnish makes bundles of a hostile image and of odd mounts.
func TestFurnish(t *testing.T) {
	img, outside := t.TempDir(), t.TempDir()
	for _, name := range []string{"usr/bin", "etc", "dev", "proc", "tmp", "scratch", "var"} {
		if err := makeDir(filepath.Join(img, name)); err != nil {
			t.Fatal(err)
		}
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.Symlink(outside, filepath.Join(img, "out")))
	must(os.Symlink("usr/bin", filepath.Join(img, "bin")))
	must(os.Symlink(filepath.Join(outside, "resolv"), filepath.Join(img, "etc/resolv.conf")))
	must(write(filepath.Join(img, "etc/hosts"), "x"))
	must(write(filepath.Join(img, "file"), "x"))
	must(makeDir(filepath.Join(img, agentFolder)))

	dir := t.TempDir()
	rootfs, binds, err := furnish(dir, image.Root{Path: img}, []sandbox.Mount{{Source: outside, Target: "/work/in"}, {Source: outside, Target: "/usr/bin"}, {Source: outside, Target: "/tmp/x"}})
	must(err)
	var targets []string
	for _, b := range binds {
		targets = append(targets, b.target)
	}
	slices.Sort(targets)
	if want := []string{"/etc", "/etc/hosts", "/file", "/usr", "/var"}; !slices.Equal(targets, want) {
		t.Errorf("mounted: %v", targets)
	}
	if to, err := os.Readlink(filepath.Join(rootfs, "out")); err != nil || to != outside {
		t.Errorf("a link of the image is %q, %v", to, err)
	}
	if info, err := os.Stat(filepath.Join(rootfs, "work/in")); err != nil || !info.IsDir() {
		t.Errorf("no place for a mount: %v", err)
	}
	for _, target := range []string{"/out/x", "/bin/x", "/" + agentFolder + "/x", "/" + agentFolder, "/file/x"} {
		_, _, err := furnish(t.TempDir(), image.Root{Path: img}, []sandbox.Mount{{Source: outside, Target: target}})
		if target == "/file/x" { // a place below a mount is the agent's to judge
			must(err)
		} else if err == nil {
			t.Errorf("a mount at %s was taken", target)
		}
	}
	if entries, _ := os.ReadDir(outside); len(entries) != 0 {
		t.Errorf("made outside: %v", entries)
	}
	if text, _ := os.ReadFile(filepath.Join(img, "etc/hosts")); string(text) != "x" {
		t.Error("the image was changed")
	}
}
