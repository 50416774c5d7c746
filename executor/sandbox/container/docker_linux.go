package container

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/toolwarrant/toolwarrant/executor/confine/cgroup"
	"github.com/toolwarrant/toolwarrant/executor/sandbox"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/agent"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/host"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/process"
)

// dockerInfo is what an engine says that it can do.
type dockerInfo struct {
	memory, cpu, pids, seccomp bool
	mapped                     bool // ids of containers are not those of the host
}

// askDocker asks the engine, which must be there.
func askDocker(program string) (dockerInfo, error) {
	ctx, cancel := context.WithTimeout(context.Background(), probePatience)
	defer cancel()
	out, err := output(ctx, program, "info", "--format", "{{.OSType}} {{.MemoryLimit}} {{.CPUCfsQuota}} {{.PidsLimit}} {{.SecurityOptions}}")
	if err != nil {
		return dockerInfo{}, unavailable("the engine does not answer: %v", err)
	}
	said := strings.Fields(string(out))
	if len(said) < 4 || said[0] != "linux" {
		return dockerInfo{}, unavailable("the engine is not one for Linux: %.100q", out)
	}
	options := strings.Join(said[4:], " ")
	return dockerInfo{
		memory: said[1] == "true", cpu: said[2] == "true", pids: said[3] == "true", seccomp: strings.Contains(options, "name=seccomp"),
		mapped: strings.Contains(options, "name=userns") || strings.Contains(options, "name=rootless"),
	}, nil
}

// enforcement says what holds in containers of the engine.
func (d dockerInfo) enforcement(e sandbox.Enforcement) {
	group := func(has bool) sandbox.Strength {
		if has {
			return sandbox.Strength{Level: sandbox.Full, By: "control group of the engine"}
		}
		return sandbox.Strength{Level: sandbox.None, By: "the engine sets no such limit here"}
	}
	e[sandbox.CPU], e[sandbox.Memory], e[sandbox.Processes] = group(d.cpu), group(d.memory), group(d.pids)
	if !d.seccomp {
		e[sandbox.Syscalls] = sandbox.Strength{Level: sandbox.Full, By: "seccomp allow-list of each command"}
	}
}

// emptyImage is the image of containers whose root is made of mounts. It has
// nothing in it, and comes from nowhere: it is made where it is missing.
const emptyImage = "toolwarrant-sandbox:empty"

// dockerArgs are the arguments of docker that make the container of p: the
// same as engineArgs where both engines have a word for it. Where name is "",
// everything in the root is a mount.
func (p plan) dockerArgs(name, filter string) []string {
	a := []string{
		"run", "--rm", "--interactive", "--name", p.id, "--pull=never", "--log-driver=none", "--no-healthcheck", "--restart=no",
		"--read-only", "--hostname=sandbox", "--user=0:0", "--workdir=/", "--ipc=private",
		"--cap-drop=ALL", "--security-opt=no-new-privileges", "--security-opt=seccomp=" + filter,
		"--ulimit=core=0:0", "--ulimit=nofile=" + both(p.openFiles), "--ulimit=nproc=" + both(p.processes),
		"--env=PATH=/" + agentFolder, "--entrypoint=/" + agentFolder + "/" + agentName,
	}
	for _, right := range streamRights {
		a = append(a, "--cap-add="+strings.TrimPrefix(right, "CAP_"))
	}
	if _, shared := p.network.(sandbox.Inherit); shared {
		a = append(a, "--network=host")
	} else {
		a = append(a, "--network=none")
	}
	memory := strconv.FormatInt(p.memory(), 10) + "b"
	a = append(a, "--memory="+memory, "--memory-swap="+memory, "--cpus="+strconv.FormatFloat(p.limits.CPUShares, 'f', 3, 64))
	if p.limits.MaxProcesses > 0 {
		a = append(a, "--pids-limit="+strconv.Itoa(p.limits.MaxProcesses+agentThreads))
	}
	a = append(a, "--tmpfs=/dev:ro,dev,nosuid,noexec,mode=755,size=65536", "--tmpfs=/sys:ro,nosuid,nodev,noexec,mode=755,size=4096")
	for _, r := range rooms {
		a = append(a, "--tmpfs="+r.path+":exec,"+strings.Join(p.room(r.share), ","))
	}
	for _, b := range append([]bind{{source: p.agent, target: "/" + agentFolder + "/" + agentName}}, p.binds...) {
		mount := "--mount=type=bind,bind-propagation=rprivate," + quoted("source="+b.source) + "," + quoted("target="+b.target)
		if !b.writable {
			mount += ",readonly"
		}
		a = append(a, mount)
	}
	if name == "" {
		name = emptyImage
	}
	return append(a, name, agent.Stream)
}

// quoted is a field of a list with commas.
func quoted(field string) string {
	return `"` + strings.ReplaceAll(field, `"`, `""`) + `"`
}

// engineFiles are those of an image that are not its own.
func (m *making) engineFiles(p *plan, bundle string) error {
	for _, name := range []string{"hosts", "resolv.conf"} {
		source := filepath.Join(bundle, "etc", name)
		if err := write(source, ownFiles[name]); err != nil {
			return err
		}
		p.binds = append(p.binds, bind{source: source, target: "/etc/" + name})
	}
	return nil
}

// shown makes mounts of the entries of the root folder: an engine takes no
// folder for a root. A link becomes what it leads to.
func (m *making) shown(p *plan) error {
	// The engine puts files of its own over these, whether we want them or not.
	for _, name := range []string{"hostname", "hosts", "resolv.conf"} {
		if m.root.Path == "" {
			if name == "hostname" {
				if err := place(filepath.Join(p.rootfs, "etc", name)); err != nil {
					return err
				}
			}
		} else if info, err := os.Stat(filepath.Join(m.root.Path, "etc", name)); err != nil || !info.Mode().IsRegular() {
			return sandbox.Errorf(sandbox.ErrImage, "the image has no file /etc/%s, over which docker could put its own; add an empty one, or use the back end container", name).At("", "/image", 0, 0)
		}
	}
	entries, err := os.ReadDir(p.rootfs)
	if err != nil {
		return err
	}
	var all []bind
	for _, e := range entries {
		at, target := filepath.Join(p.rootfs, e.Name()), "/"+e.Name()
		switch {
		case e.Type()&os.ModeSymlink != 0:
			to, err := os.Readlink(at)
			if err != nil {
				return err
			}
			source, err := filepath.EvalSymlinks(filepath.Join("/", m.root.Path, filepath.Join("/", to)))
			if err != nil {
				continue // it leads nowhere, or not within the image
			}
			if base := filepath.Join("/", m.root.Path); base != "/" && !strings.HasPrefix(source, base+"/") {
				continue
			}
			all = append(all, bind{source: source, target: target})
		case target == "/etc" && m.root.Path == "", target == "/var" && m.root.Path == "":
			all = append(all, bind{source: at, target: target})
		}
	}
	p.binds = append(all, p.binds...)
	return m.emptyImage()
}

// emptyImage makes the image without anything, where it is missing.
func (m *making) emptyImage() error {
	ctx, cancel := context.WithTimeout(context.Background(), probePatience)
	defer cancel()
	if run(ctx, m.f.program, "image", "inspect", "--format", "{{.Id}}", emptyImage) == nil {
		return nil
	}
	c := exec.CommandContext(ctx, m.f.program, "import", "-", emptyImage)
	c.Env, c.Stdin, c.WaitDelay = runtimeEnv(), bytes.NewReader(make([]byte, 1024)), endPatience // the end of an archive
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("the engine takes no empty image: %w: %.200s", err, out)
	}
	return nil
}

// killDocker ends the container, without waiting.
func (r *running) killDocker() {
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), endPatience)
		defer cancel()
		if run(ctx, r.runtime, "kill", r.id) != nil {
			// It has ended, or ends with its standard input.
			_ = r.cmd.Process.Kill()
		}
	}()
}

// measureDocker takes hold of the control group, where the engine is of this
// machine and says which it is. Without it nothing is known but what the agent
// tells.
func (m *making) measureDocker(r *running) host.Meter {
	ctx, cancel := context.WithTimeout(context.Background(), endPatience)
	defer cancel()
	out, err := output(ctx, r.runtime, "inspect", "--format", "{{.Id}} {{.State.Pid}}", r.id)
	said := strings.Fields(string(out))
	if err != nil || len(said) != 2 {
		return nil
	}
	pid, err := strconv.Atoi(said[1])
	if err != nil || pid <= 1 {
		return nil
	}
	// A number of another machine may be anybody's here.
	text, err := os.ReadFile("/proc/" + said[1] + "/cgroup")
	if err != nil || !strings.Contains(string(text), said[0]) {
		return nil
	}
	group, err := cgroup.Of(pid)
	if err != nil {
		return nil
	}
	if limit := m.spec.Limits.MaxProcesses; limit > 0 && os.Geteuid() == 0 {
		if own, err := group.Processes(); err == nil {
			_ = group.SetProcesses(own + int64(limit))
		}
	}
	return process.NewMeter(group)
}
