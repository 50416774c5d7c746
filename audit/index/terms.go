package index

import (
	"encoding/binary"
	"hash/fnv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/toolwarrant/toolwarrant/audit"
)

// indexed is what the index knows of a record, and no more.
type indexed struct {
	CallID        string  `json:"callId"`
	RelatedCallID *string `json:"relatedCallId"`
	Principal     *struct {
		Subject  string `json:"subject"`
		ClientID string `json:"clientId"`
	} `json:"principal"`
	Tool *struct {
		Name   string `json:"name"`
		ToolID string `json:"toolId"`
	} `json:"tool"`
	Outcome *string `json:"outcome"`
	Level   *string `json:"riskLevel"`
	Signals []named `json:"riskSignals"`
	Reasons []named `json:"reasons"`
	Error   *struct {
		Code   string  `json:"code"`
		Reason *string `json:"reason"`
	} `json:"error"`
	HumanInTheLoop *struct {
		RuleID *string `json:"ruleId"`
	} `json:"humanInTheLoop"`
	Usage *struct {
		Egress []struct {
			Host string `json:"host"`
		} `json:"egress"`
		FS []struct {
			Path string `json:"path"`
		} `json:"fs"`
	} `json:"usage"`
}

type named struct {
	ID string `json:"id"`
}

const timeLayout = "2006-01-02T15:04:05.000000Z"

// asReadersDo makes of a line what Line.Decode makes of it, in a third of the
// time.
var asReadersDo = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true), json.MatchCaseInsensitiveNames(true))

// take adds a close to the block.
func (b *block) take(l audit.Line) {
	d := doc{place: l.Offset, length: len(l.Raw), micros: anyTime}
	// Times are compared as texts by who reads the lines: only one that is
	// written as ours are stands for a moment.
	if t, err := time.Parse(timeLayout, l.Head.Time); err == nil && t.UnixMicro() >= 0 && t.Format(timeLayout) == l.Head.Time {
		d.micros = t.UnixMicro()
	}
	var r indexed
	err := json.Unmarshal(l.Raw, &r, asReadersDo)
	b.add(d, func(put func(Kind, string)) {
		if err != nil {
			put(Odd, "")
			return
		}
		r.terms(put)
	})
}

func (r *indexed) terms(put func(Kind, string)) {
	some := func(k Kind, texts ...string) {
		for _, t := range texts {
			if t != "" {
				put(k, t)
			}
		}
	}
	text := func(s *string) string {
		if s == nil {
			return ""
		}
		return *s
	}
	for _, id := range []string{r.CallID, text(r.RelatedCallID)} {
		if id != "" {
			put(Call, CallTerm(id))
		}
	}
	if r.Tool != nil {
		some(Tool, r.Tool.Name, r.Tool.ToolID)
	}
	if r.Principal != nil {
		some(Principal, r.Principal.Subject, r.Principal.ClientID)
	}
	some(Outcome, text(r.Outcome))
	some(Level, text(r.Level))
	if r.Error != nil {
		some(Code, r.Error.Code, r.Error.Code+"/"+text(r.Error.Reason))
	}
	for _, list := range [][]named{r.Signals, r.Reasons} {
		for _, x := range list {
			some(Rule, x.ID)
		}
	}
	if h := r.HumanInTheLoop; h != nil {
		some(Rule, text(h.RuleID))
	}
	if r.Usage != nil {
		for _, e := range r.Usage.Egress {
			put(Host, e.Host)
		}
		for _, f := range r.Usage.FS {
			put(Path, f.Path)
		}
	}
}

// CallTerm is the term of a callId. A record has one of its own: eight bytes
// of a hash take a quarter of the room, and who finds a record reads it.
func CallTerm(id string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(id))
	return string(binary.BigEndian.AppendUint64(nil, h.Sum64()))
}
