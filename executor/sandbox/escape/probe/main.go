//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
)

// The dimensions of package sandbox, which this program does not import.
const (
	fsRead    = "fs-read"
	fsWrite   = "fs-write"
	netDeny   = "net-deny"
	cpu       = "cpu"
	memory    = "memory"
	disk      = "disk"
	processes = "processes"
	environ   = "env"
	syscalls  = "syscalls"
)

// A probe is one attempt.
type probe struct {
	Name      string `json:"name"`
	Dimension string `json:"dimension"`      // that has to hold it
	Wild      bool   `json:"wild,omitempty"` // does harm where nothing holds it
	Bomb      bool   `json:"bomb,omitempty"` // its own death is a way to be held
	Slow      bool   `json:"slow,omitempty"`
	run       func(args) verdict
}

// A verdict is how an attempt ended.
type verdict struct {
	Outcome string `json:"outcome"` // held, open, or absent: there is nothing here to attempt
	Detail  string `json:"detail"`
}

// Where the mounts of the tests are; values of these names say otherwise, for a
// run without a sandbox.
var probeDir, workDir, givenDir = "/probe", "/work", "/given"

// args are what the tests have put on the host.
type args map[string]string

func open(format string, a ...any) verdict   { return verdict{"open", fmt.Sprintf(format, a...)} }
func held(format string, a ...any) verdict   { return verdict{"held", fmt.Sprintf(format, a...)} }
func absent(format string, a ...any) verdict { return verdict{"absent", fmt.Sprintf(format, a...)} }

// refused is open when err is nil.
func refused(err error, what string) verdict {
	if err == nil {
		return open("%s", what)
	}
	return held("%v", err)
}

// first gives the first verdict that is open, else the last.
func first(vs ...verdict) verdict {
	for _, v := range vs {
		if v.Outcome == "open" {
			return v
		}
	}
	return vs[len(vs)-1]
}

func probes() []probe {
	return slices.Concat(fileProbes, writeProbes, procProbes, netProbes, socketProbes, callProbes, numberedProbes(), archProbes,
		mountProbes, nodeProbes, userProbes, ipcProbes, bombProbes, signalProbes)
}

func main() {
	// Namespaces and credentials are those of a thread.
	runtime.LockOSThread()
	switch {
	case len(os.Args) == 2 && os.Args[1] == "list":
		list, err := json.Marshal(probes())
		if err != nil {
			fmt.Fprintln(os.Stderr, "probe: "+err.Error())
			os.Exit(1)
		}
		fmt.Println(string(list))
		return
	case len(os.Args) == 3 && os.Args[1] == "plant":
		plant(os.Args[2])
		return
	case len(os.Args) == 3 && os.Args[1] == "look":
		look(os.Args[2])
		return
	case len(os.Args) > 2 && os.Args[1] == "child":
		child(os.Args[2], os.Args[3:])
		return
	case len(os.Args) > 2 && os.Args[1] == "run":
		a := args{}
		for _, arg := range os.Args[3:] {
			key, value, _ := strings.Cut(arg, "=")
			a[key] = value
		}
		for key, dir := range map[string]*string{"probe": &probeDir, "work": &workDir, "given": &givenDir} {
			if a[key] != "" {
				*dir = a[key]
			}
		}
		for _, p := range probes() {
			if p.Name == os.Args[2] {
				line, _ := json.Marshal(p.run(a))
				fmt.Println(string(line))
				return
			}
		}
	}
	fmt.Fprintln(os.Stderr, "probe: list, or run NAME [KEY=VALUE]")
	os.Exit(2)
}
