// Package runner is the program that runs WebAssembly modules inside a process
// sandbox: it loads one module, with WASI preview 1, and gives it arguments,
// environment, streams, folders, and nothing else.
//
// It is started under the name of Name, by a program of its own
// (cmd/toolwarrant-wasm) or by any program that links this package: init sees
// the name and never returns. So the back end needs no file beside the program
// that uses it.
//
// # QuickJS
//
// A module is a command if it exports _start. One with the functions of the
// npm package quickjs-wasi is a library instead, which gets a new QuickJS for
// each run and one script: the argument of -e, a file in a folder of the
// module, or standard input. The script has await, print and console (to
// standard output and error), scriptArgs, std.getenv, std.in.readAsString, and
// what is in the language. Its value, if it has one, is printed at the end;
// an error goes to standard error, with the code 1.
//
// It is not a shell for QuickJS: it has no modules and no import, no timers,
// no files but the script, no exit code of its own, no workers, and nothing of
// Node or of a browser. The time zone is UTC. An error for want of memory
// cannot be caught by the script. A promise that nothing settles ends it.
//
// # Threat model
//
// The module is hostile. It has no system call, no address outside of its
// linear memory, no socket, no process; it reaches files only through package
// rootfs. Its linear memory is a mapping of its own, given back at the end, so
// that one instance sees nothing of another. What is not bounded here, the
// sandbox around this process bounds: time (by a kill: checks in the generated
// code would cost several times the speed), tables and code, open files, and
// whatever a fault of the runtime would open.
//
// A script has one wall more: the limits of QuickJS on memory and stack, and
// an interrupt after its time. They are the module's own and make a good
// message; whatever only looks like QuickJS meets the walls of any module.
// What the functions of this package for QuickJS are told, numbers and places
// in memory, is hostile too; they can write to the streams of the run, read
// its input, and nothing else.
//
// This package imports no package of toolwarrant but those below its parent,
// as the program is started for every sandbox.
package runner

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// Name is the base name of argument 0 under which a program that links this
// package is the runner.
const Name = "toolwarrant-wasm"

// Version is that of Config and of the frames. Hello carries it.
const Version = 1

// The modes, argument 1. Argument 2 is a Config as JSON.
const (
	// Serve runs a module as often as asked, by frames on standard input and
	// output.
	Serve = "serve"
	// Attached runs it once, on the streams of this process.
	Attached = "attached"
	// Compile writes Config.Cache and sends it: Out frames with the one file
	// in it, and a Compiled as Done.
	Compile = "compile"
)

// Config is what a runner needs to know. Paths are those of this process.
type Config struct {
	Version int    `json:"version"`
	Module  string `json:"module"`
	Cache   string `json:"cache,omitempty"` // of compiled code; "" = none
	// MemoryBytes is the most that the linear memory can be.
	MemoryBytes uint64  `json:"memoryBytes"`
	Mounts      []Mount `json:"mounts,omitempty"`
	// Run is what to run, for Attached.
	Run Request `json:"run"`
}

// A Mount is a folder for the module, at Guest.
type Mount struct {
	Dir      string `json:"dir"`
	Guest    string `json:"guest"`
	Writable bool   `json:"writable"`
}

// Compiled tells where in a cache the file that was sent belongs, or Error.
type Compiled struct {
	File  string `json:"file"` // folder/name
	Error string `json:"error,omitempty"`
}

func init() {
	if len(os.Args) > 0 && filepath.Base(os.Args[0]) == Name {
		Main()
	}
}

// Main is the program. It ends the process: with the code of the module for
// Attached, else with 0 when its input ends. 125 is a runner that could not
// do its part; why is on standard error.
func Main() {
	code, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", Name, err)
	}
	os.Exit(code)
}

const codeRunner = 125

func run(args []string) (int, error) {
	if len(args) != 2 {
		return codeRunner, fmt.Errorf("this program is started by the sandbox, with a mode and a configuration")
	}
	var c Config
	if err := json.Unmarshal([]byte(args[1]), &c); err != nil {
		return codeRunner, fmt.Errorf("the configuration is not readable: %w", err)
	}
	if c.Version != Version {
		return codeRunner, fmt.Errorf("the configuration is of version %d, this runner is of %d; install both from one build", c.Version, Version)
	}
	switch args[0] {
	case Serve:
		return serve(c, os.Stdin, os.Stdout)
	case Attached:
		return attached(c)
	case Compile:
		return compile(c, os.Stdout)
	}
	return codeRunner, fmt.Errorf("there is no mode %q", args[0])
}
