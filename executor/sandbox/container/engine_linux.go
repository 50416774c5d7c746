package container

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
)

// engineArgs are the arguments of podman or docker that make the container of
// p: the same as config, in the words of an engine. Either rootfs is a folder
// of ours or image a name that the engine has; it never pulls. The agent talks
// over descriptor 3.
func (p plan) engineArgs(image, filter string) []string {
	a := []string{
		"run", "--rm", "--name", p.id, "--pull=never", "--log-driver=none", "--systemd=false",
		"--read-only", "--read-only-tmpfs=false", "--hostname=sandbox", "--no-hosts", "--user=0:0", "--workdir=/",
		"--cap-drop=all", "--security-opt=no-new-privileges", "--security-opt=mask=/sys:" + strings.Join(hidden, ":"),
		"--cap-add=" + strings.ToLower(strings.Join(rights, ",")),
		"--ulimit=core=0:0", "--ulimit=nofile=" + both(p.openFiles), "--ulimit=nproc=" + both(p.processes),
		"--preserve-fds=1", "--env=PATH=/" + agentFolder, "--entrypoint=" + agentName,
	}
	if filter != "" {
		a = append(a, "--security-opt=seccomp="+filter)
	}
	if _, shared := p.network.(sandbox.Inherit); shared {
		a = append(a, "--network=host")
	} else {
		a = append(a, "--network=none")
	}
	if p.idBase >= 0 {
		for _, option := range []string{"--uidmap=", "--gidmap="} {
			a = append(a, fmt.Sprintf("%s0:%d:1", option, p.idBase), fmt.Sprintf("%s%d:%d:1", option, commandID, p.idBase+1),
				// An engine shows no image whose owners have no number.
				fmt.Sprintf("%s1:%d:%d", option, p.idBase+2, commandID-1),
				fmt.Sprintf("%s%d:%d:%d", option, commandID+1, p.idBase+commandID+1, 65535-commandID))
		}
	}
	if p.cgroups {
		memory := strconv.FormatInt(p.memory(), 10) + "b"
		a = append(a, "--cgroup-manager=cgroupfs", "--memory="+memory, "--memory-swap="+memory, "--cpus="+strconv.FormatFloat(p.limits.CPUShares, 'f', 3, 64))
		if p.limits.MaxProcesses > 0 {
			a = append(a, "--pids-limit="+strconv.Itoa(p.limits.MaxProcesses+agentThreads))
		}
	}
	for _, b := range append([]bind{{source: p.agent, target: "/" + agentFolder + "/" + agentName}}, p.binds...) {
		a = append(a, "--volume="+b.source+":"+b.target+":"+b.mode()+",nosuid,nodev,rbind,rprivate")
	}
	if image == "" {
		return append(a, "--rootfs", p.rootfs)
	}
	return append(a, "--tmpfs=/scratch:rw,size=4k,mode=755", image)
}

func both(n uint64) string { s := strconv.FormatUint(n, 10); return s + ":" + s }
