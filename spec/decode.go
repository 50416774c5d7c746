package spec

import "github.com/google/uuid"

// The decoder reads a tree that matches the JSON Schema. Null is absent
// everywhere; a value of another type cannot occur and reads as absent.

// Namespaces of derived tool ids: UUID version 5 of the name in the namespace
// of this project, which is itself one in the URL namespace (RFC 9562).
const toolNamespaceURL = "https://toolwarrant.dev/ns/tool"

// DeriveToolID is the toolId of a document that has none.
func DeriveToolID(name string) string {
	ns := uuid.NewSHA1(uuid.NameSpaceURL, []byte(toolNamespaceURL))
	return uuid.NewSHA1(ns, []byte(name)).String()
}

func decode(root *node, data []byte) *Spec {
	s := &Spec{Draft: true}
	for i := range root.members {
		name, v := root.members[i].name, &root.members[i].val
		switch name {
		case "toolId":
			s.ToolID = v.text()
		case "name":
			s.Name = v.text()
		case "description":
			s.Description = v.text()
		case "category":
			s.Category = v.text()
		case "tags":
			s.Tags = v.texts()
		case "params":
			s.Params = decodeParams(v)
		case "staticVariables":
			s.StaticVariables = decodeStatics(v)
		case "code":
			s.Code = v.text()
		case "codeType":
			s.CodeType = v.text()
		case "sandboxOverrides":
			s.Overrides = decodeOverrides(v)
		case "toolSafety":
			s.ToolSafety = decodeSafety(v)
		case "humanInTheLoop":
			s.HumanInTheLoop = decodeHuman(v)
		case "draft":
			s.Draft = v.kind != 'f'
		case "createTimestamp":
			s.CreateTimestamp = int64(v.num)
		case "updateTimestamp":
			s.UpdateTimestamp = int64(v.num)
		default:
			s.Extra = append(s.Extra, Field{Name: name, Value: data[v.start:v.end:v.end]})
		}
	}
	if s.ToolID == "" {
		s.ToolID = DeriveToolID(s.Name)
	}
	return s
}

func decodeParams(n *node) []Param {
	if n.kind != '[' {
		return nil
	}
	out := make([]Param, len(n.elems))
	for i := range n.elems {
		e := &n.elems[i]
		out[i] = Param{
			Name:        e.get("name").text(),
			Description: e.get("description").text(),
			Required:    e.get("required").isTrue(),
			Type:        ParamType(e.get("type").text()),
			TestValue:   e.get("testValue").optText(),
		}
	}
	return out
}

func decodeStatics(n *node) []StaticVariable {
	if n.kind != '[' {
		return nil
	}
	out := make([]StaticVariable, 0, len(n.elems))
	for i := range n.elems {
		for j := range n.elems[i].members {
			m := &n.elems[i].members[j]
			out = append(out, StaticVariable{Key: m.name, Value: m.val.str})
		}
	}
	return out
}

// decodeOverrides gives nil for an empty block, which means the same as none
// (section 10.1).
func decodeOverrides(n *node) *Overrides {
	if n.kind != '{' {
		return nil
	}
	o := &Overrides{
		AddAllowClasses:    n.get("addAllowClasses").texts(),
		RemoveAllowClasses: n.get("removeAllowClasses").texts(),
		AddDenyClasses:     n.get("addDenyClasses").texts(),
		RemoveDenyClasses:  n.get("removeDenyClasses").texts(),
		NetworkMode:        n.get("networkMode").optText(),
		HostsAllow:         n.get("hostsAllow").texts(),
		FileRead:           n.get("fileRead").optBool(),
		FileWrite:          n.get("fileWrite").optBool(),
		FSBasePath:         n.get("fsBasePath").optText(),
		Destructive:        n.get("destructive").optBool(),
	}
	if o.empty() {
		return nil
	}
	return o
}

func (o *Overrides) empty() bool {
	return o == nil || len(o.AddAllowClasses) == 0 && len(o.RemoveAllowClasses) == 0 &&
		len(o.AddDenyClasses) == 0 && len(o.RemoveDenyClasses) == 0 && len(o.HostsAllow) == 0 &&
		o.NetworkMode == nil && o.FileRead == nil && o.FileWrite == nil && o.FSBasePath == nil && o.Destructive == nil
}

func decodeHuman(n *node) *HumanInTheLoop {
	if n.kind != '{' {
		return nil
	}
	h := &HumanInTheLoop{Mode: n.get("mode").optText(), PromptTemplate: n.get("promptTemplate").optText()}
	if h.Mode == nil && h.PromptTemplate == nil {
		return nil
	}
	return h
}

func decodeSafety(n *node) *ToolSafety {
	if n.kind != '{' {
		return nil
	}
	rt, cat, caps := n.get("runtime"), n.get("category"), n.get("capabilities")
	net := caps.get("network")
	return &ToolSafety{
		Version: n.get("version").text(),
		Runtime: ToolSafetyRuntime{
			ID:          rt.get("id").text(),
			MinVersion:  rt.get("minVersion").text(),
			ECMAVersion: rt.get("ecmaVersion").text(),
			JavaInterop: rt.get("javaInterop").isTrue(),
			Helpers:     rt.get("helpers").texts(),
			Console:     rt.get("console").isTrue(),
		},
		Category: ToolSafetyCategory{Source: cat.get("source").text(), ID: cat.get("id").text()},
		Capabilities: Capabilities{
			Network:   CapabilityNetwork{Mode: net.get("mode").text(), Hosts: net.get("hosts").texts()},
			FileRead:  caps.get("fileRead").isTrue(),
			FileWrite: caps.get("fileWrite").isTrue(),
		},
	}
}

func (n *node) text() string {
	if n == nil || n.kind != '"' {
		return ""
	}
	return n.str
}

func (n *node) optText() *string {
	if n == nil || n.kind != '"' {
		return nil
	}
	s := n.str // a copy: a pointer into the tree would keep all of it
	return &s
}

func (n *node) isTrue() bool { return n != nil && n.kind == 't' }

func (n *node) optBool() *bool {
	if n == nil || n.kind != 't' && n.kind != 'f' {
		return nil
	}
	b := n.kind == 't'
	return &b
}

// texts gives a list of strings; an empty one is nil, as if it were absent.
func (n *node) texts() []string {
	if n == nil || n.kind != '[' || len(n.elems) == 0 {
		return nil
	}
	out := make([]string, len(n.elems))
	for i := range n.elems {
		out[i] = n.elems[i].text()
	}
	return out
}
