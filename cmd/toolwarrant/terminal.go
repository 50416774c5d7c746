package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/toolwarrant/toolwarrant/approval"
)

// isTerminal reports whether w is one; colour and questions go only there.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// terminalAsker asks the person who runs the command. A command without a
// terminal has none, and then the question waits for "approvals approve".
type terminalAsker struct {
	in  io.Reader
	out io.Writer
}

func (a *app) asker() approval.Asker {
	if !isTerminal(a.std.in) || !isTerminal(a.std.err) {
		return nil
	}
	return terminalAsker{a.std.in, a.std.err}
}

// Channel implements approval.Asker.
func (terminalAsker) Channel() string { return approval.ChannelTerminal }

// Ask implements approval.Asker: only the whole word "yes" accepts.
func (t terminalAsker) Ask(ctx context.Context, q approval.Question) (approval.Answer, error) {
	fmt.Fprintf(t.out, "%s\n", q.Prompt)
	for _, s := range q.RiskSignals {
		fmt.Fprintf(t.out, "  %s %s: %s\n", s.Level, s.ID, s.Message)
	}
	fmt.Fprint(t.out, `Type "yes" to run it: `)
	line := make(chan string, 1)
	go func() {
		s, _ := bufio.NewReader(t.in).ReadString('\n')
		line <- s
	}()
	me := principal()
	by := approval.Approver{Subject: me.Subject, Method: approval.ChannelTerminal, Groups: me.Groups}
	select {
	case <-ctx.Done():
		return approval.Answer{Action: approval.ActionTimeout, Approver: by}, ctx.Err()
	case s := <-line:
		if strings.TrimSpace(s) == "yes" {
			return approval.Answer{Action: approval.ActionAccept, Approver: by}, nil
		}
		return approval.Answer{Action: approval.ActionDecline, Approver: by}, nil
	}
}
