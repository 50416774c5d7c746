package audit

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/rs/zerolog"
)

// Sandbox is one command that the code of a call ran in a sandbox, or that
// could not be run. What was demanded of the sandbox is in effectivePolicy.
type Sandbox struct {
	SandboxID string   `json:"sandboxId"` // "" where there was none
	Backend   string   `json:"backend"`   // "" where none was found
	Image     string   `json:"image"`
	Argv      []string `json:"argv"` // masked and bounded by the writer
	// Mounts are the folders of the host that it saw.
	Mounts   []SandboxMount `json:"mounts"`
	ExitCode *int64         `json:"exitCode"`
	TimedOut bool           `json:"timedOut"`
	LimitHit *string        `json:"limitHit"` // the limit that it is known to have met
	Error    *string        `json:"error"`    // why it did not run to an end: a reason
	// Usage is what it used.
	Usage SandboxUsage `json:"usage"`
	// Network is DenyAll, AllowList or Inherit, Connections what was asked for
	// under AllowList. Those that were opened are in usage.egress as well.
	Network     string              `json:"network"`
	Connections []SandboxConnection `json:"connections"`
	Partial     map[string]string   `json:"partial"` // what was enforced less than asked, by dimension
}

// SandboxMount is a folder of the host in a sandbox.
type SandboxMount struct {
	Source   string `json:"source"`
	Target   string `json:"target"`
	Writable bool   `json:"writable"`
}

// SandboxUsage is what one command used; nil is what could not be known.
type SandboxUsage struct {
	WallMs     float64  `json:"wallMs"`
	CPUMs      *float64 `json:"cpuMs"`
	PeakMemory *int64   `json:"peakMemory"` // bytes
	NetIn      *int64   `json:"netIn"`      // bytes
	NetOut     *int64   `json:"netOut"`     // bytes
	Orphans    int64    `json:"orphans"`    // processes that it left, and that were killed
}

// SandboxConnection is one connection, or one name that was asked for and not
// given.
type SandboxConnection struct {
	Host    string  `json:"host"`
	Port    int64   `json:"port"` // 0 for a name
	Address string  `json:"address"`
	Allowed bool    `json:"allowed"`
	Reason  *string `json:"reason"`
	In      int64   `json:"in"`
	Out     int64   `json:"out"`
}

// What one record keeps of the commands of a call.
const (
	maxCommands    = 100
	maxWords       = 32
	maxWord        = 2 << 10 // bytes
	maxConnections = 20
	maxMounts      = 32
	maxHost        = 256       // bytes
	maxTold        = 128 << 10 // bytes of all words and hosts together; further ones are cut to a few
	maxUntold      = 32
)

// commands masks and bounds the commands of a call.
func (k *masking) commands(list []Sandbox) []Sandbox {
	if list == nil {
		return nil
	}
	told := 0
	text := func(s string, limit int, at string) string {
		if told > maxTold {
			limit = maxUntold
		}
		s = k.text(s, limit, at)
		told += len(s)
		return s
	}
	out := slices.Clone(capList(list, maxCommands, func(rest []Sandbox) Sandbox {
		return Sandbox{Argv: []string{fmt.Sprintf("(%d more)", len(rest))}, Network: rest[0].Network}
	}))
	for i := range out {
		s, at := &out[i], "/sandbox/"+strconv.Itoa(i)
		s.SandboxID, s.Backend = capString(s.SandboxID, maxName), capString(s.Backend, maxName)
		s.Image = k.text(s.Image, maxName, at+"/image")
		s.Argv = slices.Clone(capList(s.Argv, maxWords, func(rest []string) string { return fmt.Sprintf("(%d more)", len(rest)) }))
		for j := range s.Argv {
			s.Argv[j] = text(s.Argv[j], maxWord, at+"/argv/"+strconv.Itoa(j))
		}
		s.Mounts = slices.Clone(capList(s.Mounts, maxMounts, func(rest []SandboxMount) SandboxMount {
			more := SandboxMount{Source: fmt.Sprintf("(%d more)", len(rest))}
			more.Writable = slices.ContainsFunc(rest, func(m SandboxMount) bool { return m.Writable })
			return more
		}))
		for j := range s.Mounts {
			m, at := &s.Mounts[j], at+"/mounts/"+strconv.Itoa(j)
			m.Source, m.Target = text(m.Source, maxName, at+"/source"), text(m.Target, maxName, at+"/target")
		}
		if s.Error != nil && !isSlug(*s.Error) {
			s.Error = k.optional(s.Error, maxName, at+"/error")
		}
		s.Connections = slices.Clone(capList(s.Connections, maxConnections, moreConnections))
		for j := range s.Connections {
			c, at := &s.Connections[j], at+"/connections/"+strconv.Itoa(j)
			c.Host = text(c.Host, maxHost, at+"/host")
			c.Address = text(c.Address, maxHost, at+"/address")
			if c.Reason != nil && !isSlug(*c.Reason) {
				c.Reason = k.optional(c.Reason, maxName, at+"/reason")
			}
		}
	}
	return out
}

func moreConnections(rest []SandboxConnection) SandboxConnection {
	c := SandboxConnection{Host: fmt.Sprintf("(%d more)", len(rest))}
	for _, r := range rest {
		c.In, c.Out = c.In+r.In, c.Out+r.Out
	}
	return c
}

type commandList []Sandbox

// MarshalZerologArray encodes the commands.
func (l *commandList) MarshalZerologArray(a *zerolog.Array) {
	for i := range *l {
		a.Object(&(*l)[i])
	}
}

// MarshalZerologObject encodes one command.
func (s *Sandbox) MarshalZerologObject(e *zerolog.Event) {
	e.Str("sandboxId", s.SandboxID).Str("backend", s.Backend).Str("image", s.Image).Strs("argv", s.Argv).Array("mounts", (*mountList)(&s.Mounts))
	num(e, "exitCode", s.ExitCode)
	e.Bool("timedOut", s.TimedOut)
	str(e, "limitHit", s.LimitHit)
	str(e, "error", s.Error)
	e.Object("usage", &s.Usage).Str("network", s.Network).Array("connections", (*connectionList)(&s.Connections))
	if s.Partial == nil {
		null(e, "partial")
		return
	}
	partial := zerolog.Dict()
	for _, d := range slices.Sorted(maps.Keys(s.Partial)) {
		partial.Str(capString(d, maxName), capString(s.Partial[d], maxName))
	}
	e.Dict("partial", partial)
}

// MarshalZerologObject encodes what a command used.
func (u *SandboxUsage) MarshalZerologObject(e *zerolog.Event) {
	e.Float64("wallMs", millis(u.WallMs))
	if u.CPUMs == nil {
		null(e, "cpuMs")
	} else {
		e.Float64("cpuMs", millis(*u.CPUMs))
	}
	num(e, "peakMemory", u.PeakMemory)
	num(e, "netIn", u.NetIn)
	num(e, "netOut", u.NetOut)
	e.Int64("orphans", u.Orphans)
}

type mountList []SandboxMount

// MarshalZerologArray encodes the mounts.
func (l *mountList) MarshalZerologArray(a *zerolog.Array) {
	for i := range *l {
		a.Object(&(*l)[i])
	}
}

// MarshalZerologObject encodes one mount.
func (m *SandboxMount) MarshalZerologObject(e *zerolog.Event) {
	e.Str("source", m.Source).Str("target", m.Target).Bool("writable", m.Writable)
}

type connectionList []SandboxConnection

// MarshalZerologArray encodes the connections.
func (l *connectionList) MarshalZerologArray(a *zerolog.Array) {
	for i := range *l {
		a.Object(&(*l)[i])
	}
}

// MarshalZerologObject encodes one connection.
func (c *SandboxConnection) MarshalZerologObject(e *zerolog.Event) {
	e.Str("host", c.Host).Int64("port", c.Port).Str("address", c.Address).Bool("allowed", c.Allowed)
	str(e, "reason", c.Reason)
	e.Int64("in", c.In).Int64("out", c.Out)
}
