package confine

import (
	"errors"
	"fmt"
	"net"
	"os"
	"slices"

	"github.com/landlock-lsm/go-landlock/landlock"
	llsys "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"

	"github.com/toolwarrant/toolwarrant/executor/confine/inherit"
	"github.com/toolwarrant/toolwarrant/executor/worker"
)

// Lock gives up, for good and for every thread, what this process was started
// with: descriptors beyond keep, files, network, other processes, new
// programs. It must run before anything untrusted is read, and reports what
// is in force. An error means that the process must not go on.
func Lock(keep int, parent []string) (worker.Isolation, error) {
	iso := worker.Isolation{Mode: "process", Namespaces: ownSpaces(parent)}
	none := false
	iso.Cgroup = &none
	if err := inherit.Close(keep); err != nil {
		return iso, err
	}
	if err := limits(); err != nil {
		return iso, err
	}
	// Landlock and seccomp need it, and it is a wall of its own: no file can
	// give a right to this process any more.
	if err := llsys.AllThreadsPrctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return iso, fmt.Errorf("no_new_privs: %w", err)
	}
	// Not dumpable: no other process of the same user can attach to it.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return iso, fmt.Errorf("not dumpable: %w", err)
	}
	if abi, err := llsys.LandlockGetABIVersion(); err == nil && abi > 0 {
		if err := landlock.V9.BestEffort().Restrict(); err != nil {
			return iso, fmt.Errorf("landlock: %w", err)
		}
		iso.Landlock = &abi
	}
	filtered, err := filterCalls()
	if err != nil {
		return iso, fmt.Errorf("seccomp: %w", err)
	}
	iso.Seccomp = &filtered
	memory := "rlimit" // the parent sets it, for each call
	iso.Memory = &memory
	return iso, proveLocked(iso)
}

// spaceKinds are the namespaces that a report can name.
var spaceKinds = []string{"user", "net", "ipc", "uts", "mnt", "cgroup"}

// Spaces names the namespaces that this process is in, as a child of it needs
// them to tell which ones are its own.
func Spaces() []string {
	var spaces []string
	for _, kind := range spaceKinds {
		if here, err := os.Readlink("/proc/self/ns/" + kind); err == nil {
			spaces = append(spaces, here)
		}
	}
	return spaces
}

// ownSpaces gives the kinds of namespaces that are not the parent's.
func ownSpaces(parent []string) []string {
	own := []string{}
	for _, kind := range spaceKinds {
		here, err := os.Readlink("/proc/self/ns/" + kind)
		if err == nil && len(parent) > 0 && !slices.Contains(parent, here) {
			own = append(own, kind)
		}
	}
	return own
}

// limits are those that hold for the whole life of the process. Memory is
// bounded per call, by the parent.
func limits() error {
	for _, l := range []struct {
		what int
		max  uint64
	}{
		{unix.RLIMIT_CORE, 0}, {unix.RLIMIT_FSIZE, 0}, {unix.RLIMIT_MEMLOCK, 0}, {unix.RLIMIT_MSGQUEUE, 0}, {unix.RLIMIT_NOFILE, 16},
	} {
		if err := unix.Setrlimit(l.what, &unix.Rlimit{Cur: l.max, Max: l.max}); err != nil {
			return fmt.Errorf("resource limit %d: %w", l.what, err)
		}
	}
	return nil
}

// proveLocked tries what must be impossible now. A layer that says it is in
// force and lets one of these through is no layer.
func proveLocked(iso worker.Isolation) error {
	if !*iso.Seccomp && iso.Landlock == nil {
		return nil // nothing was promised; the report says so
	}
	if f, err := os.Open("/proc/self/environ"); err == nil {
		f.Close()
		return errors.New("a locked process could open a file")
	}
	if !*iso.Seccomp {
		return nil
	}
	if fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0); err == nil {
		_ = unix.Close(fd)
		return errors.New("a locked process could make a socket")
	}
	if _, err := net.InterfaceByIndex(1); err == nil {
		return errors.New("a locked process could look at the network")
	}
	if err := unix.Kill(os.Getppid(), 0); err == nil {
		return errors.New("a locked process could signal its parent")
	}
	return nil
}
