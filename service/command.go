package service

import (
	"context"
	"encoding/json"

	"github.com/toolwarrant/toolwarrant/catalog"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/executor"
	"github.com/toolwarrant/toolwarrant/executor/command"
	"github.com/toolwarrant/toolwarrant/executor/worker"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/spec"
)

// OwnCommandTool is the name that an own command has for the policy and in the
// record.
const OwnCommandTool = "sandboxRun"

// OwnCommand is one command that whoever is at the terminal of the installation
// runs in a sandbox.
type OwnCommand struct {
	Argv  []string
	Env   [][2]string // name and value
	Dir   string      // in the sandbox; "" = where commands start
	Input string
	// Hosts are those that it may reach, as an allow-list has them; "*" is any
	// public one. None = no network.
	Hosts []string
	// Own has the back end, the image, the mounts, the limits and where output
	// goes as it comes.
	command.Own
}

// OwnCommandResult is how an own command ended: as a call, and where it ran as
// a command as well.
type OwnCommandResult struct {
	executor.Result
	Command *worker.CommandResult // nil where it did not run; Err says why
}

// ownCommandCode is the code of the document that an own command is for the
// policy.
const ownCommandCode = `const builder = new (Java.type("java.lang.ProcessBuilder"))(argv);
builder.environment(Object.fromEntries(envNames.map((name, i) => [name, envValues[i]])));
if (dir !== "") builder.directory(dir);
return builder.input(input).timeoutMs(timeoutMs).run();`

// RunCommand decides about a command, runs it and records it, by the one way
// that every call goes: the command is the call of a document of its own, with
// the grants that it asks for, so that the one decision function decides and the
// record is one of a call. The outcome is in the result; it never panics.
//
// The policy bounds it as any tool that starts commands: its level, its limits
// and time are those of the tool sandboxRun, for which an operator may bind a
// profile or write a rule.
func (s *Service) RunCommand(ctx context.Context, p decision.Principal, c OwnCommand) OwnCommandResult {
	failed := func(f *fault.Error) OwnCommandResult {
		return OwnCommandResult{Result: executor.Result{Outcome: fault.Failed, Err: f}}
	}
	if len(c.Argv) == 0 {
		return failed(fault.New(fault.Usage, "command-empty", "there is no command; give it after --"))
	}
	doc, err := ownCommandDocument(c)
	if err != nil {
		return failed(fault.From(err))
	}
	tool := &catalog.Tool{Spec: doc, Source: catalog.SourceUser, State: catalog.StateDraft, Why: "a command of the terminal"}
	names, values := []string{}, []string{}
	for _, e := range c.Env {
		names, values = append(names, e[0]), append(values, e[1])
	}
	args, err := json.Marshal(map[string]any{
		"argv": c.Argv, "envNames": names, "envValues": values, "dir": c.Dir, "input": c.Input, "timeoutMs": c.Timeout.Milliseconds(),
	})
	if err != nil {
		return failed(fault.From(err))
	}
	out := OwnCommandResult{Result: s.Engine.Call(ctx, executor.Call{
		Principal: p, Origin: decision.OriginCLIRun, Name: OwnCommandTool, Args: args, Own: executor.Own{Unpublished: tool, Sandbox: &c.Own},
	})}
	if out.Err != nil {
		return out
	}
	out.Command = new(worker.CommandResult)
	if err := json.Unmarshal(out.Value, out.Command); err != nil {
		return failed(fault.New(fault.Internal, "command-result", "the result of the command cannot be read").Because(err))
	}
	return out
}

// ownCommandDocument is the document that an own command is for the policy.
func ownCommandDocument(c OwnCommand) (*spec.Spec, error) {
	overrides := map[string]any{"removeDenyClasses": []string{"java.lang.ProcessBuilder"}}
	if len(c.Hosts) > 0 {
		overrides["networkMode"], overrides["hostsAllow"] = "allowlist", c.Hosts
	}
	for _, m := range c.Mounts {
		overrides["fileRead"] = true
		if m.Writable {
			overrides["fileWrite"] = true
		}
	}
	asked, limits := map[string]any{}, map[string]int64{}
	if c.Backend != "" {
		asked["backends"] = []string{c.Backend}
	}
	for name, n := range map[string]int64{"cpuMillis": c.Limits.CPUMillis, "memoryMB": c.Limits.MemoryMB, "diskMB": c.Limits.DiskMB, "maxProcesses": c.Limits.MaxProcesses} {
		if n > 0 {
			limits[name] = n
		}
	}
	if len(limits) > 0 {
		asked["limits"] = limits
	}
	param := func(name, kind, description string) map[string]any {
		return map[string]any{"name": name, "type": kind, "required": false, "description": description}
	}
	raw, err := json.Marshal(map[string]any{
		"name": OwnCommandTool, "description": "Runs a command of the terminal in a sandbox. Returns its exit code and output.",
		"codeType": "Javascript", "code": ownCommandCode, "category": "SYSTEM",
		"params": []any{
			param("argv", "ARRAY", "The command and its arguments."), param("envNames", "ARRAY", "Names of variables."), param("envValues", "ARRAY", "Their values."),
			param("dir", "STRING", "Where it starts."), param("input", "STRING", "What it reads."), param("timeoutMs", "NUMBER", "How long it may take."),
		},
		"sandboxOverrides": overrides, "x-toolwarrant-sandbox": asked,
		// Variables and input are how secrets are handed to a command.
		"x-toolwarrant-mask": map[string]string{"envValues": "mask", "input": "hash"},
	})
	if err != nil {
		return nil, err
	}
	doc, errs := spec.Parse(OwnCommandTool+".json", raw)
	if len(errs) > 0 {
		return nil, errs[0]
	}
	return doc, nil
}
