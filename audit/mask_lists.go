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
		list[i].Message = k.text(list[i].Message, maxString, "/riskSignals/"+strconv.Itoa(i)+"/message")
	}
	return list
}

func (k *masking) reasons(list []decision.Reason) []decision.Reason {
	list = slices.Clone(capList(list, maxMessages, func(rest []decision.Reason) decision.Reason {
		return decision.Reason{ID: "(more)", Message: fmt.Sprintf("(%d more)", len(rest))}
	}))
	for i := range list {
		list[i].Message = k.text(list[i].Message, maxString, "/reasons/"+strconv.Itoa(i)+"/message")
	}
	return list
}
