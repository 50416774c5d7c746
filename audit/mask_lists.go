package audit

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/toolwarrant/toolwarrant/decision"
)

func (k *masking) signals(list []decision.Signal) []decision.Signal {
	list = slices.Clone(capList(list, maxMessages, func(rest []decision.Signal) decision.Signal {
		return decision.Signal{ID: "(more)", Level: rest[0].Level, Message: fmt.Sprintf("(%d more)", len(rest))}
	}))
	for i := range list {
		at := "/riskSignals/" + strconv.Itoa(i)
		list[i].ID = k.id(list[i].ID, at+"/id")
		list[i].Message = k.text(list[i].Message, maxString, at+"/message")
	}
	return list
}

func (k *masking) reasons(list []decision.Reason) []decision.Reason {
	list = slices.Clone(capList(list, maxMessages, func(rest []decision.Reason) decision.Reason {
		return decision.Reason{ID: "(more)", Message: fmt.Sprintf("(%d more)", len(rest))}
	}))
	for i := range list {
		at := "/reasons/" + strconv.Itoa(i)
		list[i].ID = k.id(list[i].ID, at+"/id")
		list[i].Message = k.text(list[i].Message, maxString, at+"/message")
	}
	return list
}

// id is the id of a rule. One that is not spelt as ids are may have been made
// of an argument, and is masked and bounded like any text. One that is stays as
// it is: a short secret would otherwise take the name from every rule that has
// the same word in its own.
func (k *masking) id(s, at string) string {
	if isSlug(s) {
		return s
	}
	return k.text(s, maxName, at)
}
