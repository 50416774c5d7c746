// Package wire is what a back end and the agent inside its sandbox say to each
// other. The agent is process 1 of the sandbox; it prepares it, starts the
// commands, and reports their ends.
//
// A conversation is: Config, Ready, and then any number of Exec/Exited,
// Signal, and Reset/Done, one message at a time. Each message is one JSON
// document with Kind, in one packet of a SOCK_SEQPACKET socket, with the
// descriptors that belong to it (SCM_RIGHTS), or in a frame of a stream where
// there are no packets (a serial port). The agent trusts the parent; the
// parent trusts nothing that it reads.
//
// The end of the socket is the end of the sandbox.
//
// A launcher is an agent that has no sandbox and starts the others: it answers
// each Launch with Launched. The end of its socket is the end of all of them.
package wire

import (
	"os"
	"time"

	"github.com/toolwarrant/toolwarrant/executor/confine/cgroup"
)

// Version is that of the messages. The two ends are one build as a rule; an
// agent that stands beside the program is asked for it.
const Version = 3

// The kinds of messages.
const (
	KindConfig = "config"
	KindReady  = "ready"
	KindExec   = "exec"
	KindExited = "exited"
	KindSignal = "signal"
	KindReset  = "reset"
	KindDone   = "done"

	// Between a back end and the launcher of its agents.
	KindLaunch   = "launch"
	KindLaunched = "launched"
)

// A Message is one of the kinds; the field of that name is set.
type Message struct {
	Kind   string  `json:"kind"`
	Config *Config `json:"config,omitempty"`
	Ready  *Ready  `json:"ready,omitempty"`
	Exec   *Exec   `json:"exec,omitempty"`
	Exited *Exited `json:"exited,omitempty"`
	Signal int     `json:"signal,omitempty"` // to the running command and all its descendants
	Error  string  `json:"error,omitempty"`  // of Done

	Launch   *Launch   `json:"launch,omitempty"`
	Launched *Launched `json:"launched,omitempty"`
}

// Launch asks for the start of one agent. Its descriptor is the agent's end of
// the conversation.
type Launch struct {
	OwnNetwork bool         `json:"ownNetwork"`
	Group      cgroup.Place `json:"group,omitzero"` // to be started in
}

// Launched is the answer. Its descriptor is a pidfd that does not block, where a
// process was started, which may be so beside an Error as well.
type Launched struct {
	PID   int    `json:"pid,omitempty"`
	Error string `json:"error,omitempty"`
}

// The roots that an agent can be in.
const (
	RootHost  = "host"  // built from folders of the host
	RootDir   = "dir"   // Config.RootPath, read-only
	RootReady = "ready" // the agent was started in it; below 0 ScratchBytes it adds nothing, else the scratch space and Mounts
)

// The networks that an agent prepares.
const (
	NetNone    = "none"    // a loopback device
	NetAllow   = "allow"   // listeners for the parent
	NetInherit = "inherit" // left as it is
)

// Config makes the sandbox. Its descriptors are that of the root with RootTree,
// and those of Mounts with a Tree, in order.
type Config struct {
	Version  int      `json:"version"`
	Hostname string   `json:"hostname"`
	Root     string   `json:"root"`
	RootPath string   `json:"rootPath,omitempty"`
	RootTree bool     `json:"rootTree,omitempty"` // RootPath comes as the first descriptor, a detached mount
	Folders  []string `json:"folders,omitempty"`  // of the host, for RootHost; files too
	Mounts   []Mount  `json:"mounts,omitempty"`
	// ScratchBytes and ScratchInodes bound the scratch space: /scratch, /tmp,
	// /var/tmp and /dev/shm together. 0 bytes: they are read-only.
	ScratchBytes  int64 `json:"scratchBytes"`
	ScratchInodes int64 `json:"scratchInodes"`

	Net      string   `json:"net"`
	Ports    []int    `json:"ports,omitempty"`    // to listen on, for NetAllow
	Prefixes []string `json:"prefixes,omitempty"` // that are local, for NetAllow

	UID int `json:"uid"` // of commands, inside
	GID int `json:"gid"`

	Filter   Program `json:"filter,omitempty"` // seccomp program; none = no filter
	Landlock bool    `json:"landlock"`
	// Limits of each process; 0 = none. They are what holds where there is
	// no control group.
	MaxProcesses  uint64 `json:"maxProcesses,omitempty"`
	MaxMemory     uint64 `json:"maxMemory,omitempty"`   // private writable memory, bytes
	MaxFileSize   uint64 `json:"maxFileSize,omitempty"` // bytes
	MaxOpenFiles  uint64 `json:"maxOpenFiles,omitempty"`
	MaxCPUSeconds uint64 `json:"maxCPUSeconds,omitempty"`

	Env []string `json:"env"` // of commands, complete
	Dir string   `json:"dir"`
	// Warm is the interpreter to keep loaded: "" or "python".
	Warm string `json:"warm,omitempty"`
}

// A Mount is put at Target before anything untrusted runs.
type Mount struct {
	Source   string `json:"source"`
	Target   string `json:"target"`
	Writable bool   `json:"writable"`
	// Dev and Ino are those of the source as the parent checked it; another
	// file under the same name is refused.
	Dev uint64 `json:"dev"`
	Ino uint64 `json:"ino"`
	// Tree: a detached mount comes as a descriptor, and Source is only a name.
	Tree bool `json:"tree,omitempty"`
}

// Ready says that the sandbox is as Config says, or Error. Its descriptors,
// for Net "allow", are one TCP listener per port in the order of
// Config.Ports, a UDP socket for the name server, and a TCP listener for it.
type Ready struct {
	Version int      `json:"version"`
	Error   string   `json:"error,omitempty"`
	Holds   []string `json:"holds,omitempty"` // layers that are in force: seccomp, landlock, no-new-privs, ...
	Missing []string `json:"missing,omitempty"`
}

// Exec starts a command. Its descriptors are standard input, output and error.
type Exec struct {
	Argv []string `json:"argv"`
	Env  []string `json:"env,omitempty"` // added to Config.Env
	Dir  string   `json:"dir,omitempty"`
	// Attach: it lives beside the conversation; other messages may come
	// before its Exited.
	Attach bool `json:"attach,omitempty"`
}

// Exited is the end of the command, when nothing of it is left.
type Exited struct {
	Error    string `json:"error,omitempty"` // it could not be started; Code is 126 or 127
	Code     int    `json:"code"`
	Signal   int    `json:"signal,omitempty"`
	UserUS   int64  `json:"userUs"` // CPU of the command and what it waited for
	SystemUS int64  `json:"systemUs"`
	MaxRSS   int64  `json:"maxRss"` // bytes, of the largest process
	Orphans  int    `json:"orphans"`
	// Killed and Refused are of an agent that has a control group of its own,
	// in a virtual machine: processes that were ended for want of memory, and
	// that could not be started for being too many.
	Killed  int `json:"killed,omitempty"`
	Refused int `json:"refused,omitempty"`
}

// A Channel is one end of a conversation. Send may be called from several
// goroutines, Receive from one at a time.
type Channel interface {
	// Send sends m with descriptors, which stay the caller's. A message that
	// is too large fails with EMSGSIZE in the error and leaves the
	// conversation as it was.
	Send(m Message, files ...*os.File) error
	// Receive gives the next message and its descriptors, which are the
	// caller's. The end of the conversation is io.EOF.
	Receive() (Message, []*os.File, error)
	// SetDeadline bounds the Receive that runs and later ones; the zero time
	// does not.
	SetDeadline(t time.Time) error
	// Close ends the conversation. A Receive that waits fails.
	Close() error
}
