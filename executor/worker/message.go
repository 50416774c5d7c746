// Package worker is the contract between the executor (the parent, which
// holds the decision) and whatever runs the JavaScript (the worker, which is
// treated as hostile and decides nothing). Everything that crosses it is one
// of these messages, all JSON; cue/worker.cue states them.
//
// The worker never sees a policy. It is told which globals to install and
// which limits to count, and it asks the parent, over Broker, for every
// effect on the world: the parent checks the decision each time.
package worker

import (
	"context"
	"encoding/json"
)

// Program is the code of one tool. A worker may keep a compiled program by
// its ID, which covers everything that changes the compiled form.
type Program struct {
	ID     string   `json:"id"`     // digest of source, bindings and runtime version
	Name   string   `json:"name"`   // file name shown in error positions, such as "base64.js"
	Source string   `json:"source"` // the body of an async function
	Params []string `json:"params"` // declared names, in order; unset ones read undefined
}

// Static is a resolved static variable. Values may be secrets: they go to
// the worker and nowhere else.
type Static struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Globals says which capability-bound names exist inside the program. It
// follows from the posture; the broker checks each use all the same.
type Globals struct {
	Fetch   bool `json:"fetch"`
	FSRead  bool `json:"fsRead"`
	FSWrite bool `json:"fsWrite"`
}

// Limits are what the worker itself can count. Zero means none.
type Limits struct {
	MaxStatements  int64 `json:"maxStatements"`
	TimeoutMillis  int64 `json:"timeoutMillis"`
	MaxMemoryBytes int64 `json:"maxMemoryBytes"`
	MaxOutputBytes int64 `json:"maxOutputBytes"`
	MaxLogLines    int64 `json:"maxLogLines"`
	MaxLogBytes    int64 `json:"maxLogBytes"` // per line
}

// Call is one execution.
type Call struct {
	CallID  string          `json:"callId"`
	Program Program         `json:"program"`
	Args    json.RawMessage `json:"args"` // validated object; member order is kept
	Statics []Static        `json:"statics"`
	Globals Globals         `json:"globals"`
	Limits  Limits          `json:"limits"`
	// Spare says that processors are idle: a worker may look for its next
	// call for a moment before it sleeps. The pool sets it.
	Spare bool `json:"spare"`
}

// Failure is how code, helpers and limits fail. Code is one of the codes of
// package fault, sent as text because the sender is not trusted.
type Failure struct {
	Code    string `json:"code"`
	Reason  string `json:"reason"`
	Helper  string `json:"helper"` // "fetch", "safety.fs", ... empty for user code
	Message string `json:"message"`
	Name    string `json:"name"` // JavaScript error name, such as "TypeError"
	Line    int    `json:"line"` // of the user's code, 0 = unknown
	Column  int    `json:"column"`
}

// Error makes a Failure the cause of a context (context.CancelCauseFunc), so
// that whoever ends a call says as what.
func (f *Failure) Error() string { return f.Code + "/" + f.Reason + ": " + f.Message }

// LogLine is one console call.
type LogLine struct {
	Level string `json:"level"` // log, info, warn, error, debug
	Text  string `json:"text"`
}

// Usage is what the worker counted. A nil value was not measured.
type Usage struct {
	Statements  *int64 `json:"statements"`
	MemoryBytes *int64 `json:"memoryBytes"`
	LogLines    int64  `json:"logLines"` // emitted, dropped ones included
}

// Reply ends a Call: Result or Failure, never both.
type Reply struct {
	Result  json.RawMessage `json:"result"`
	Failure *Failure        `json:"failure"`
	Logs    []LogLine       `json:"logs"`
	Usage   Usage           `json:"usage"`
}

// Op names one brokered effect.
type Op string

// The brokered operations. Arguments and results are documented with the
// broker that serves them (executor/broker).
const (
	OpClassLookup Op = "class.lookup"
	OpFetch       Op = "fetch"
	OpParserYAML  Op = "parser.yaml"
	OpParserCSV   Op = "parser.csv"
	OpParserXML   Op = "parser.xml"

	OpFSReadText  Op = "fs.readText"
	OpFSWriteText Op = "fs.writeText"
	OpFSList      Op = "fs.list"
	OpFSExists    Op = "fs.exists"
	OpFSStat      Op = "fs.stat"
	OpFSGrep      Op = "fs.grep"
	OpFSLineCount Op = "fs.lineCount"
	OpFSSlice     Op = "fs.slice"
	OpFSCut       Op = "fs.cut"
	OpFSSort      Op = "fs.sort"
	OpFSFind      Op = "fs.find"
	OpFSWorkspace Op = "fs.workspace"
	OpFSReadRoots Op = "fs.readRoots"

	OpFSReadBytes     Op = "fs.readBytes"
	OpFSWriteBytes    Op = "fs.writeBytes"
	OpFSAppendText    Op = "fs.appendText"
	OpFSEditText      Op = "fs.editText"
	OpFSCopy          Op = "fs.copy"
	OpFSMove          Op = "fs.move"
	OpFSDelete        Op = "fs.delete"
	OpFSDeleteDir     Op = "fs.deleteDir"
	OpFSSearchInFiles Op = "fs.searchInFiles"
)

// MaxOps is how many operations one call may ask for. Both sides count.
const MaxOps = 10_000

// BrokerRequest asks the parent for one effect. Args is a JSON array of the
// JavaScript arguments in their order; binary values travel as
// {"$bytes": "<base64>"}.
type BrokerRequest struct {
	Op   Op              `json:"op"`
	Args json.RawMessage `json:"args"`
}

// BrokerReply is the answer: Result or Failure.
type BrokerReply struct {
	Result  json.RawMessage `json:"result"`
	Failure *Failure        `json:"failure"`
}

// Broker serves the effects of one call under its decision. It must be safe
// for concurrent use and must return when ctx ends.
type Broker interface {
	Do(ctx context.Context, req BrokerRequest) BrokerReply
}

// Isolation says what really confines the code; it goes into the record.
type Isolation struct {
	Mode       string   `json:"mode"` // in-process, process
	Namespaces []string `json:"namespaces"`
	Landlock   *int     `json:"landlock"` // ABI in force
	Seccomp    *bool    `json:"seccomp"`
	Memory     *string  `json:"memory"` // rlimit, job, watched, none
	Cgroup     *bool    `json:"cgroup"`
}
