package executor

import (
	"slices"
	"time"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/executor/command"
	"github.com/toolwarrant/toolwarrant/executor/sandbox"
	"github.com/toolwarrant/toolwarrant/internal/optional"
)

// commands makes what runs the commands of a call, nil where the decision lets
// it run none. The sandbox is made of the decision alone; nothing starts before
// the code asks.
func (e *Engine) commands(r *run, policy decision.EffectivePolicy) *command.Runner {
	if policy.Sandbox == nil {
		return nil
	}
	statics := map[string]string{}
	for _, s := range r.statics {
		statics[s.Name] = s.Value
	}
	o := command.Options{
		Sandboxes: e.Sandboxes, Policy: policy, CallID: r.callID, Ends: time.Now().Add(time.Duration(policy.TimeoutSeconds) * time.Second),
		Statics: statics, Mask: r.mask, Workspace: e.Broker.Workspace, Roots: e.Broker.Roots, Logger: e.Logger,
	}
	if r.in.Unpublished != nil {
		o.Own = r.in.Sandbox
		if r.in.Workspace != "" {
			o.Roots = []string{r.in.Workspace}
		}
	}
	return command.New(o)
}

// ran ends the sandbox of the call and keeps its commands for the record, their
// connections with the other exchanges.
func (r *run) ran(commands *command.Runner) {
	if commands == nil {
		return
	}
	_ = commands.Close()
	r.commands = []audit.Sandbox{}
	for _, ev := range commands.Events() {
		r.commands = append(r.commands, recordedCommand(ev))
		for _, c := range ev.Connections {
			if c.Port == 0 {
				continue // a name alone
			}
			status := 0
			if c.Allowed && c.Reason == "" {
				status = connected
			}
			r.usage.Egress = append(r.usage.Egress, audit.Egress{Host: c.Host, IP: c.Address, Status: status, Bytes: c.In})
		}
	}
}

// connected is the status of a connection that was opened, as a proxy would
// answer CONNECT.
const connected = 200

// hiddenWord stands for a word of a command that may hold an argument which the
// record does not show.
const hiddenWord = "***"

// recordedCommands are the commands as the record of this call shows them.
// Where an argument is kept off the record, so are the words of the commands:
// which of them it went into nobody can tell.
func (e *Engine) recordedCommands(r *run) []audit.Sandbox {
	if d := r.decision; d == nil || len(r.commands) == 0 || !slices.Contains(d.Record.Drop, "/params") && !e.privately(r).hides {
		return r.commands
	}
	out := slices.Clone(r.commands)
	for i := range out {
		words := slices.Clone(out[i].Argv)
		for j := range words {
			words[j] = hiddenWord
		}
		out[i].Argv = words
	}
	return out
}

// recordedCommand is one command for the record, not masked yet.
func recordedCommand(e sandbox.Event) audit.Sandbox {
	known := func(n int64) *int64 {
		if n < 0 {
			return nil
		}
		return &n
	}
	out := audit.Sandbox{
		SandboxID: e.SandboxID, Backend: e.Backend, Image: e.Image, Argv: e.Argv, TimedOut: e.TimedOut,
		LimitHit: optional.Of(string(e.LimitHit)), Error: optional.Of(e.Error), Network: e.Network,
		Connections: []audit.SandboxConnection{}, Partial: e.Partial,
		Usage: audit.SandboxUsage{
			WallMs: millis(e.Usage.Wall), PeakMemory: known(e.Usage.PeakMemory),
			NetIn: known(e.Usage.NetIn), NetOut: known(e.Usage.NetOut), Orphans: int64(e.Usage.Orphans),
		},
	}
	if out.Argv == nil {
		out.Argv = []string{}
	}
	for _, m := range e.Mounts {
		out.Mounts = append(out.Mounts, audit.SandboxMount(m))
	}
	if e.Error == "" {
		code := int64(e.ExitCode)
		out.ExitCode = &code
	}
	if e.Usage.CPU >= 0 {
		cpu := millis(e.Usage.CPU)
		out.Usage.CPUMs = &cpu
	}
	for _, c := range e.Connections {
		out.Connections = append(out.Connections, audit.SandboxConnection{
			Host: c.Host, Port: int64(c.Port), Address: c.Address, Allowed: c.Allowed, Reason: optional.Of(c.Reason), In: c.In, Out: c.Out,
		})
	}
	return out
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
