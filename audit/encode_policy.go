package audit

import (
	"maps"
	"slices"

	"github.com/rs/zerolog"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/executor/worker"
	"github.com/toolwarrant/toolwarrant/spec"
)

// The types of other packages, by hand for speed: they are in every record.
// A test holds them against the tags of those types.

type safetyObject spec.ToolSafety

// MarshalZerologObject encodes the posture of a tool.
func (s *safetyObject) MarshalZerologObject(e *zerolog.Event) {
	e.Str("version", s.Version).Object("runtime", (*runtimeObject)(&s.Runtime)).
		Object("category", (*categoryObject)(&s.Category)).Object("capabilities", (*capabilitiesObject)(&s.Capabilities))
}

type runtimeObject spec.ToolSafetyRuntime

// MarshalZerologObject encodes the runtime of a posture.
func (r *runtimeObject) MarshalZerologObject(e *zerolog.Event) {
	e.Str("id", r.ID).Str("minVersion", r.MinVersion).Str("ecmaVersion", r.ECMAVersion).
		Bool("javaInterop", r.JavaInterop).Strs("helpers", r.Helpers).Bool("console", r.Console)
}

type categoryObject spec.ToolSafetyCategory

// MarshalZerologObject encodes the category of a posture.
func (c *categoryObject) MarshalZerologObject(e *zerolog.Event) {
	e.Str("source", c.Source).Str("id", c.ID)
}

type capabilitiesObject spec.Capabilities

// MarshalZerologObject encodes the capabilities of a posture.
func (c *capabilitiesObject) MarshalZerologObject(e *zerolog.Event) {
	e.Object("network", (*capabilityNetworkObject)(&c.Network)).Bool("fileRead", c.FileRead).Bool("fileWrite", c.FileWrite)
}

type capabilityNetworkObject spec.CapabilityNetwork

// MarshalZerologObject encodes the egress part of a posture.
func (n *capabilityNetworkObject) MarshalZerologObject(e *zerolog.Event) {
	e.Str("mode", n.Mode).Strs("hosts", n.Hosts)
}

type effectiveObject decision.EffectivePolicy

// MarshalZerologObject encodes what the executor enforces.
func (p *effectiveObject) MarshalZerologObject(e *zerolog.Event) {
	e.Strs("allowClasses", p.AllowClasses).Strs("denyClasses", p.DenyClasses).
		Object("network", (*networkObject)(&p.Network)).Object("fs", (*fsObject)(&p.FS)).Strs("env", p.Env).
		Int64("maxStatements", p.MaxStatements).Int64("timeoutSeconds", p.TimeoutSeconds).
		Int64("maxMemoryBytes", p.MaxMemoryBytes).Int64("maxOutputBytes", p.MaxOutputBytes).Int64("maxLogLines", p.MaxLogLines)
	if p.Sandbox != nil { // absent where no command can start
		e.Object("sandbox", (*sandboxObject)(p.Sandbox))
	}
}

type sandboxObject decision.Sandbox

// MarshalZerologObject encodes what commands are kept in.
func (s *sandboxObject) MarshalZerologObject(e *zerolog.Event) {
	require := zerolog.Dict()
	for _, d := range slices.Sorted(maps.Keys(s.Require)) {
		require.Str(d, s.Require[d])
	}
	e.Str("image", s.Image).Strs("backends", s.Backends).Dict("require", require).
		Dict("limits", zerolog.Dict().Int64("cpuMillis", s.Limits.CPUMillis).Int64("memoryMB", s.Limits.MemoryMB).
			Int64("diskMB", s.Limits.DiskMB).Int64("maxProcesses", s.Limits.MaxProcesses)).
		Bool("allowPartial", s.AllowPartial).Strs("env", s.Env).Str("warm", s.Warm)
}

type networkObject decision.Network

// MarshalZerologObject encodes the egress part of a policy.
func (n *networkObject) MarshalZerologObject(e *zerolog.Event) {
	e.Str("mode", n.Mode).Strs("hosts", n.Hosts).Strs("hostsDeny", n.HostsDeny).
		Ints("ports", n.Ports).Strs("privateHosts", n.PrivateHosts)
}

type fsObject decision.FS

// MarshalZerologObject encodes the file part of a policy.
func (f *fsObject) MarshalZerologObject(e *zerolog.Event) {
	e.Bool("read", f.Read).Bool("write", f.Write).Str("basePath", f.BasePath)
}

type isolationObject worker.Isolation

// MarshalZerologObject encodes what confined the code.
func (i *isolationObject) MarshalZerologObject(e *zerolog.Event) {
	e.Str("mode", i.Mode).Strs("namespaces", i.Namespaces)
	if i.Landlock == nil {
		null(e, "landlock")
	} else {
		e.Int("landlock", *i.Landlock)
	}
	boolean(e, "seccomp", i.Seccomp)
	str(e, "memory", i.Memory)
	boolean(e, "cgroup", i.Cgroup)
}

func boolean(e *zerolog.Event, key string, v *bool) {
	if v == nil {
		null(e, key)
		return
	}
	e.Bool(key, *v)
}
