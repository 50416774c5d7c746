// Package process is the back end that makes a sandbox out of a process: on
// Linux from namespaces, a root of chosen folders, control groups, Landlock
// and a filter of system calls, with an agent (package agent) as process 1.
//
// What stays open by its nature: the kernel is the host's, so that a fault of
// it is within reach of a command; the programs and libraries of the host are
// readable; what a command computes shows in the load of the machine. All else
// is reported per dimension by Probe and by each sandbox.
//
// Package plain, which confines nothing, exists for those who ask for
// it by its name.
package process

import (
	"strings"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/allow"
)

// ID is that of the factory.
const ID = "process"

// Priority is below those of back ends with a runtime or a kernel between.
const Priority = 40

// Options are those of New. The zero value is right for most.
type Options struct {
	// Agent is the path of the agent program. "" looks for toolwarrant-agent
	// beside the running program, and takes the running program itself where
	// there is none that fits.
	Agent string
	// Stash is how many agents wait, started and unused, for the next sandbox,
	// where the agent is a large program: its start takes longer than all the
	// rest. 0 = DefaultStash; below 0 = none.
	Stash int
	// NoControlGroups leaves them alone; what they bound is then bounded less.
	NoControlGroups bool
	// Network is how an AllowList is served.
	Network allow.Options
}

// DefaultStash is Options.Stash for 0.
const DefaultStash = 2

// Folders are what the image "host" shows, read-only: programs, libraries, and
// what they need of /etc that says nothing of this host.
var Folders = []string{
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store",
	"/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime", "/etc/mime.types",
	"/etc/ssl/certs", "/etc/ssl/cert.pem", "/etc/ssl/openssl.cnf", "/etc/ca-certificates", "/etc/ca-certificates.conf", "/etc/pki/tls/certs", "/etc/pki/ca-trust", "/etc/crypto-policies",
}

// Path is the PATH of commands.
const Path = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"

// takesImage tells by its form whether an image is one of this back end.
func takesImage(image string) bool {
	return image == "" || image == "host" || strings.HasPrefix(image, "dir:")
}

// Home is their home and where they start.
const Home = "/scratch"

// Environment is all that commands see: the fixed part, and that of spec,
// which wins.
func Environment(spec sandbox.Spec) []string {
	return append([]string{"PATH=" + Path, "HOME=" + Home, "LANG=C.UTF-8"}, spec.Env...)
}
