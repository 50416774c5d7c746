package impact

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolwarrant/toolwarrant/decision"
)

// usual is a decision in which every dimension applies.
func usual() *decision.Decision {
	return &decision.Decision{
		Allow: true, RiskLevel: "L3", ProfileChain: []string{},
		EffectivePolicy: decision.EffectivePolicy{
			Network:       decision.Network{Mode: "allowlist", Hosts: []string{"a.example"}},
			FS:            decision.FS{Read: true, BasePath: "/base"},
			MaxStatements: 100, TimeoutSeconds: 10, MaxMemoryBytes: 100, MaxOutputBytes: 100, MaxLogLines: 100,
		},
		HumanInTheLoop: decision.HumanInTheLoop{Mode: "REQUIRED", Source: "default", ExpirySeconds: 120, OutOfBandExpirySeconds: 900},
		Isolation:      decision.IsolationMinimum{Minimum: "in-process"},
	}
}

type change func(*decision.Decision)

// TestDimensions says, for every dimension, what is wider. Each case is tried
// both ways.
func TestDimensions(t *testing.T) {
	net := func(f func(*decision.Network)) change {
		return func(d *decision.Decision) { f(&d.EffectivePolicy.Network) }
	}
	hosts := func(h ...string) change { return net(func(n *decision.Network) { n.Hosts = h }) }
	mode := func(m string, h ...string) change {
		return net(func(n *decision.Network) { n.Mode, n.Hosts = m, h })
	}
	pol := func(f func(*decision.EffectivePolicy)) change {
		return func(d *decision.Decision) { f(&d.EffectivePolicy) }
	}
	human := func(f func(*decision.HumanInTheLoop)) change {
		return func(d *decision.Decision) { f(&d.HumanInTheLoop) }
	}
	nothing := change(func(*decision.Decision) {})
	for name, c := range map[string]struct {
		old, new change
		want     []string // "path direction"
	}{
		"nothing":                   {nothing, nothing, nil},
		"blocked to allowlist":      {mode("blocked"), mode("allowlist", "a.example"), []string{"effectivePolicy.network.mode widened", "effectivePolicy.network.hosts widened"}},
		"blocked to empty list":     {mode("blocked"), mode("allowlist"), []string{"effectivePolicy.network.mode widened"}},
		"allowlist to strict":       {mode("allowlist", "a.example"), mode("strict"), []string{"effectivePolicy.network.mode widened", "effectivePolicy.network.hosts widened"}},
		"any host to strict":        {mode("allowlist", "*"), mode("strict"), []string{"effectivePolicy.network.mode changed", "effectivePolicy.network.hosts changed"}},
		"strict to open":            {mode("strict"), mode("open"), []string{"effectivePolicy.network.mode widened"}},
		"a host more":               {hosts("a.example"), hosts("a.example", "b.example"), []string{"effectivePolicy.network.hosts widened"}},
		"a host that was covered":   {hosts("*.example"), hosts("*.example", "b.example"), []string{"effectivePolicy.network.hosts changed"}},
		"a pattern for a host":      {hosts("a.example"), hosts("*.example"), []string{"effectivePolicy.network.hosts widened"}},
		"a host for another":        {hosts("a.example"), hosts("b.example"), []string{"effectivePolicy.network.hosts widened", "effectivePolicy.network.hosts tightened"}},
		"a denied host less":        {net(func(n *decision.Network) { n.HostsDeny = []string{"x.example"} }), nothing, []string{"effectivePolicy.network.hostsDeny widened"}},
		"denies exchanged":          {net(func(n *decision.Network) { n.HostsDeny = []string{"x.example"} }), net(func(n *decision.Network) { n.HostsDeny = []string{"y.example"} }), []string{"effectivePolicy.network.hostsDeny widened", "effectivePolicy.network.hostsDeny tightened"}},
		"denies without a network":  {mode("blocked"), func(d *decision.Decision) { mode("blocked")(d); d.EffectivePolicy.Network.HostsDeny = []string{"x"} }, nil},
		"any port for some":         {net(func(n *decision.Network) { n.Ports = []int{443} }), nothing, []string{"effectivePolicy.network.ports widened"}},
		"a port more":               {net(func(n *decision.Network) { n.Ports = []int{443} }), net(func(n *decision.Network) { n.Ports = []int{80, 443} }), []string{"effectivePolicy.network.ports widened"}},
		"a port for another":        {net(func(n *decision.Network) { n.Ports = []int{443} }), net(func(n *decision.Network) { n.Ports = []int{80} }), []string{"effectivePolicy.network.ports widened", "effectivePolicy.network.ports tightened"}},
		"a private host":            {nothing, net(func(n *decision.Network) { n.PrivateHosts = []string{"db:5432"} }), []string{"effectivePolicy.network.privateHosts widened"}},
		"no reading":                {nothing, pol(func(p *decision.EffectivePolicy) { p.FS.Read, p.FS.BasePath = false, "" }), []string{"effectivePolicy.fs.read tightened"}},
		"writing":                   {nothing, pol(func(p *decision.EffectivePolicy) { p.FS.Write = true }), []string{"effectivePolicy.fs.write widened"}},
		"a folder above":            {nothing, pol(func(p *decision.EffectivePolicy) { p.FS.BasePath = "/" }), []string{"effectivePolicy.fs.basePath widened"}},
		"another folder":            {nothing, pol(func(p *decision.EffectivePolicy) { p.FS.BasePath = "/other" }), []string{"effectivePolicy.fs.basePath widened", "effectivePolicy.fs.basePath tightened"}},
		"an allowed class":          {nothing, pol(func(p *decision.EffectivePolicy) { p.AllowClasses = []string{"java.io.File"} }), []string{"effectivePolicy.allowClasses widened"}},
		"a deny less":               {pol(func(p *decision.EffectivePolicy) { p.DenyClasses = []string{"java.lang.*"} }), nothing, []string{"effectivePolicy.denyClasses widened"}},
		"a deny that was covered":   {pol(func(p *decision.EffectivePolicy) { p.DenyClasses = []string{"java.*", "java.lang.*"} }), pol(func(p *decision.EffectivePolicy) { p.DenyClasses = []string{"java.*"} }), []string{"effectivePolicy.denyClasses changed"}},
		"a placeholder":             {nothing, pol(func(p *decision.EffectivePolicy) { p.Env = []string{"KEY"} }), []string{"effectivePolicy.env widened"}},
		"statements":                {nothing, pol(func(p *decision.EffectivePolicy) { p.MaxStatements = 99 }), []string{"effectivePolicy.maxStatements tightened"}},
		"no limit of statements":    {nothing, pol(func(p *decision.EffectivePolicy) { p.MaxStatements = 0 }), []string{"effectivePolicy.maxStatements widened"}},
		"timeout":                   {nothing, pol(func(p *decision.EffectivePolicy) { p.TimeoutSeconds = 20 }), []string{"effectivePolicy.timeoutSeconds widened"}},
		"memory":                    {nothing, pol(func(p *decision.EffectivePolicy) { p.MaxMemoryBytes = 99 }), []string{"effectivePolicy.maxMemoryBytes tightened"}},
		"output":                    {nothing, pol(func(p *decision.EffectivePolicy) { p.MaxOutputBytes = 101 }), []string{"effectivePolicy.maxOutputBytes widened"}},
		"log lines":                 {nothing, pol(func(p *decision.EffectivePolicy) { p.MaxLogLines = 1 }), []string{"effectivePolicy.maxLogLines tightened"}},
		"a rate":                    {nothing, func(d *decision.Decision) { d.Limits.RatePerMinute = 10 }, []string{"limits.ratePerMinute tightened"}},
		"concurrency":               {func(d *decision.Decision) { d.Limits.Concurrency = 1 }, func(d *decision.Decision) { d.Limits.Concurrency = 2 }, []string{"limits.concurrency widened"}},
		"stronger isolation":        {nothing, func(d *decision.Decision) { d.Isolation.Minimum = "locked" }, []string{"isolation.minimum tightened"}},
		"isolation nobody has":      {func(d *decision.Decision) { d.Isolation.Minimum = "locked" }, func(d *decision.Decision) { d.Isolation.Minimum = "vault" }, []string{"isolation.minimum tightened"}},
		"a higher level":            {nothing, func(d *decision.Decision) { d.RiskLevel = "L4" }, []string{"riskLevel tightened"}},
		"a level that follows":      {nothing, func(d *decision.Decision) { d.RiskLevel, d.EffectivePolicy.FS.Write = "L4", true }, []string{"effectivePolicy.fs.write widened", "riskLevel changed"}},
		"a level against the grant": {nothing, func(d *decision.Decision) { d.RiskLevel, d.EffectivePolicy.FS.Write = "L2", true }, []string{"effectivePolicy.fs.write widened", "riskLevel widened"}},
		"nobody is asked":           {nothing, human(func(h *decision.HumanInTheLoop) { h.Mode = "DISABLED" }), []string{"humanInTheLoop.mode widened"}},
		"asked for another reason":  {nothing, human(func(h *decision.HumanInTheLoop) { h.Source, h.RuleID = "floor", "hitl-floor" }), []string{"humanInTheLoop.source changed", "humanInTheLoop.ruleId changed"}},
		"auto-approved":             {nothing, human(func(h *decision.HumanInTheLoop) { h.AutoApproved = true }), []string{"humanInTheLoop.autoApproved changed"}},
		"some may agree":            {nothing, human(func(h *decision.HumanInTheLoop) { h.Approvers.Groups = []string{"leads"} }), []string{"humanInTheLoop.approvers.groups tightened"}},
		"a group for another":       {human(func(h *decision.HumanInTheLoop) { h.Approvers.Groups = []string{"leads"} }), human(func(h *decision.HumanInTheLoop) { h.Approvers.Groups = []string{"staff"} }), []string{"humanInTheLoop.approvers.groups widened", "humanInTheLoop.approvers.groups tightened"}},
		"four eyes":                 {nothing, human(func(h *decision.HumanInTheLoop) { h.Approvers.FourEyes = true }), []string{"humanInTheLoop.approvers.fourEyes tightened"}},
		"a longer question":         {nothing, human(func(h *decision.HumanInTheLoop) { h.ExpirySeconds = 121 }), []string{"humanInTheLoop.expirySeconds widened"}},
		"a longer one out of band":  {nothing, human(func(h *decision.HumanInTheLoop) { h.OutOfBandExpirySeconds = 1 }), []string{"humanInTheLoop.outOfBandExpirySeconds tightened"}},
		"channels":                  {nothing, human(func(h *decision.HumanInTheLoop) { h.Channels = []string{"terminal"} }), []string{"humanInTheLoop.channels changed"}},
		"prompt":                    {nothing, human(func(h *decision.HumanInTheLoop) { h.Prompt = "Really?" }), []string{"humanInTheLoop.prompt changed"}},
		"a mask":                    {nothing, func(d *decision.Decision) { d.Mask = []string{"/token"} }, []string{"mask tightened"}},
		"profiles":                  {nothing, func(d *decision.Decision) { d.ProfileChain = []string{"offline"} }, []string{"profileChain changed"}},
		"a signal":                  {nothing, func(d *decision.Decision) { d.RiskSignals = []decision.Signal{{ID: "x", Level: "L1"}} }, []string{"riskSignals.x changed"}},
		"denied": {nothing, func(d *decision.Decision) {
			d.Allow, d.Reasons = false, []decision.Reason{{ID: "closed", Message: "m"}}
		}, []string{"allow tightened", "reasons.closed changed"}},
	} {
		t.Run(name, func(t *testing.T) {
			old, new := Answer{Decision: usual(), Visible: true}, Answer{Decision: usual(), Visible: true}
			c.old(old.Decision)
			c.new(new.Decision)
			got := Compare(old, new)
			if diff := cmp.Diff(c.want, brief(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(sorted(opposite(got)), sorted(Compare(new, old))); diff != "" {
				t.Errorf("the way back is not the opposite (-want +got):\n%s", diff)
			}
			if again := Compare(new, new); len(again) > 0 {
				t.Errorf("a decision differs from itself: %v", again)
			}
		})
	}
}

func TestVerdicts(t *testing.T) {
	yes := Answer{Decision: usual(), Visible: true}
	no := Answer{Rejected: []decision.Reason{{ID: "constraint", Message: "m"}}}
	hidden := Answer{Decision: usual()}
	for name, c := range map[string]struct {
		old, new Answer
		want     []string
	}{
		"rejected now": {yes, no, []string{"allow tightened", "rejected tightened", "visible tightened", "reasons.constraint changed"}},
		"accepted now": {no, yes, []string{"allow widened", "rejected widened", "visible widened", "reasons.constraint changed"}},
		"hidden now":   {yes, hidden, []string{"visible tightened"}},
		"both refuse":  {no, no, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, brief(Compare(c.old, c.new))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestProperties compares generated decisions: the way back is the opposite,
// nothing differs from itself, and "nothing in the grants is widened" is what
// the resolver itself means by "within".
func TestProperties(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	pairs := 5000
	for range pairs {
		old, new := generated(r), generated(r)
		if r.IntN(2) == 0 { // close to each other, as two policies are
			near := *old.Decision
			generateOne(r, &near)
			new = Answer{Decision: &near, Visible: old.Visible}
		}
		got := Compare(old, new)
		if diff := cmp.Diff(sorted(opposite(got)), sorted(Compare(new, old))); diff != "" {
			t.Fatalf("the way back is not the opposite (-want +got):\n%s", diff)
		}
		if again := Compare(old, old); len(again) > 0 {
			t.Fatalf("a decision differs from itself: %v", again)
		}
		widened := slices.ContainsFunc(got, func(c Change) bool {
			return c.Direction == Widened && strings.HasPrefix(c.Path, policy)
		})
		if dimension, within := new.Decision.EffectivePolicy.Within(old.Decision.EffectivePolicy); within == widened {
			t.Fatalf("within is %t (%s), the changes are %v\nold %+v\nnew %+v", within, dimension, got, old.Decision.EffectivePolicy, new.Decision.EffectivePolicy)
		}
	}
}

// TestEveryFieldIsCompared: a field that is added to a decision has to be
// given a direction, or a reason to be left out.
func TestEveryFieldIsCompared(t *testing.T) {
	apart := map[string]string{
		"decisionId": "differs each time", "decidedAt": "differs each time",
		"policyRevision": "what is compared", "tool": "what is decided about", "toolSafety": "derived from the effective policy",
		"record.how": "compared with the masks",
		"allow":      "compared as the verdict", "reasons": "compared by id", "riskSignals": "compared by id",
	}
	known := map[string]bool{}
	for _, d := range dimensions {
		known[d.path] = true
	}
	var walk func(at string, typ reflect.Type)
	walk = func(at string, typ reflect.Type) {
		for i := range typ.NumField() {
			f := typ.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "-" {
				name = strings.ToLower(f.Name)
			}
			path := strings.TrimPrefix(at+"."+name, ".")
			switch {
			case apart[path] != "" || known[path]:
			case f.Type.Kind() == reflect.Struct:
				walk(path, f.Type)
			default:
				t.Errorf("%s has no direction: give it one in dimensions", path)
			}
		}
	}
	walk("", reflect.TypeFor[decision.Decision]())
}

func TestGate(t *testing.T) {
	for _, c := range []struct {
		gate                  string
		widened, any, refuses bool
	}{
		{"none", true, true, false}, {"widening", true, true, true}, {"widening", false, true, false}, {"any", false, true, true}, {"any", false, false, false},
	} {
		g, err := ParseGate(c.gate)
		if err != nil || g.Refuses(c.widened, c.any) != c.refuses {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if _, err := ParseGate("widened"); err == nil {
		t.Error("an unknown gate is taken")
	}
}

func brief(changes []Change) []string {
	var out []string
	for _, c := range changes {
		out = append(out, c.Path+" "+string(c.Direction))
	}
	return out
}

func opposite(changes []Change) []Change {
	out := make([]Change, len(changes))
	for i, c := range changes {
		out[i] = Change{Path: c.Path, Old: c.New, New: c.Old, Direction: c.Direction.Opposite(), Added: c.Removed, Removed: c.Added}
	}
	return out
}

func sorted(changes []Change) []string {
	var out []string
	for _, c := range changes {
		raw, err := json.Marshal(c)
		if err != nil {
			panic(err)
		}
		out = append(out, string(raw))
	}
	slices.Sort(out)
	return out
}

func generated(r *rand.Rand) Answer {
	d := usual()
	for range 12 {
		generateOne(r, d)
	}
	return Answer{Decision: d, Visible: r.IntN(2) == 0}
}

// generateOne gives one field another value.
func generateOne(r *rand.Rand, d *decision.Decision) {
	some := func(of ...string) []string {
		var out []string
		for _, e := range of {
			if r.IntN(2) == 0 {
				out = append(out, e)
			}
		}
		return out
	}
	one := func(of ...string) string { return of[r.IntN(len(of))] }
	number := func() int64 { return int64(r.IntN(3)) * 10 }
	p, h := &d.EffectivePolicy, &d.HumanInTheLoop
	for _, set := range []func(){
		func() { p.Network.Mode = one("blocked", "allowlist", "strict", "open") },
		func() { p.Network.Hosts = some("*", "*.example", "a.example", "b.test") },
		func() { p.Network.HostsDeny = some("*.example", "a.example", "b.test") },
		func() {
			p.Network.Ports = nil
			for _, port := range []int{80, 443} {
				if r.IntN(2) == 0 {
					p.Network.Ports = append(p.Network.Ports, port)
				}
			}
		},
		func() { p.Network.PrivateHosts = some("db:1", "db:2") },
		func() { p.FS.Read = r.IntN(2) == 0 },
		func() { p.FS.Write = r.IntN(2) == 0 },
		func() { p.FS.BasePath = one("/base", "/base/a", "/other") },
		func() { p.AllowClasses = some("java.*", "java.io.File", "org.x") },
		func() { p.DenyClasses = some("java.*", "java.io.File", "org.x") },
		func() { p.Env = some("A", "B") },
		func() { p.MaxStatements = number() },
		func() { p.TimeoutSeconds = number() },
		func() { p.MaxMemoryBytes = number() },
		func() { p.MaxOutputBytes = number() },
		func() { p.MaxLogLines = number() },
		func() { d.Limits.RatePerMinute = number() },
		func() { d.Limits.Concurrency = number() },
		func() { d.Isolation.Minimum = one("none", "in-process", "process", "locked", "vault", "moon") },
		func() { d.RiskLevel = one("L0", "L3", "L5") },
		func() { h.Mode = one("REQUIRED", "DISABLED") },
		func() { h.Approvers.Groups = some("leads", "staff") },
		func() { h.Approvers.FourEyes = r.IntN(2) == 0 },
		func() { h.ExpirySeconds = number() },
		func() { d.Mask = some("/a", "/b") },
		func() {
			d.RiskSignals = nil
			for _, id := range some("x", "y") {
				d.RiskSignals = append(d.RiskSignals, decision.Signal{ID: id, Level: one("L1", "L2")})
			}
		},
	} {
		if r.IntN(8) == 0 {
			set()
		}
	}
}
