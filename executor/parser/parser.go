// Package parser is the part of safety.parser that runs outside the program:
// CSV, XML and YAML read into plain JSON (Safe Tool Spec section 8.4). HTML
// is read where the program runs, since its result is a live document.
//
// It owns three hardened readers and their limits. It touches no file and no
// network, constructs no host objects, and imports only the contracts.
//
// Threat model: the text comes from the network or from a model. Its size,
// its depth and the size of what it becomes are bounded, because a small text
// can describe a huge value (YAML aliases, long CSV headers); document types,
// entities and custom tags are refused, not ignored; a member name that
// appears twice is refused, since two readers would see two documents.
// Results keep the order of the text.
package parser

import (
	"context"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/toolwarrant/toolwarrant/executor/worker"
	"github.com/toolwarrant/toolwarrant/fault"
)

// Helper is the helper name in the failures of this package.
const Helper = "safety.parser"

// Reasons of the failures: the first three have code INVALID_INPUT, the
// others HELPER_RUNTIME.
const (
	MissingInput   = "missing-input"
	InputTooLarge  = "input-too-large"
	InvalidOption  = "invalid-option"
	ParseFailed    = "parse-failed"
	ResultTooLarge = "result-too-large"
	Interrupted    = "interrupted"
)

// Limits of one parse.
const (
	MaxInput  = 5 << 20  // bytes of text
	MaxResult = 16 << 20 // bytes of JSON
	maxDepth  = 256      // of elements and collections
)

// checkInput is the start of every reader.
func checkInput(ctx context.Context, text string) *worker.Failure {
	switch {
	case text == "":
		return invalid(MissingInput, "the text is missing")
	case len(text) > MaxInput:
		return invalid(InputTooLarge, "the text is larger than 5 MiB")
	case !utf8.ValidString(text):
		return failed("the text is not UTF-8")
	}
	return over(ctx)
}

func over(ctx context.Context) *worker.Failure {
	if ctx.Err() == nil {
		return nil
	}
	return failure(fault.HelperRuntime, Interrupted, "the call has ended")
}

func failure(code fault.Code, reason, message string) *worker.Failure {
	return &worker.Failure{Code: string(code), Reason: reason, Helper: Helper, Message: "[safety.parser] " + message}
}

func invalid(reason, message string) *worker.Failure {
	return failure(fault.InvalidInput, reason, message)
}

func failed(format string, args ...any) *worker.Failure {
	return failure(fault.HelperRuntime, ParseFailed, fmt.Sprintf(format, args...))
}

// writer builds the JSON of a result up to MaxResult. After the first
// failure it writes nothing more.
type writer struct {
	ctx    context.Context
	out    []byte
	writes int
	fail   *worker.Failure
}

func (w *writer) raw(s string) {
	if w.fail != nil {
		return
	}
	if w.out = append(w.out, s...); len(w.out) > MaxResult {
		w.fail = failure(fault.HelperRuntime, ResultTooLarge, "the result is larger than 16 MiB")
		return
	}
	if w.writes++; w.writes%4096 == 0 {
		w.fail = over(w.ctx)
	}
}

func (w *writer) str(s string) {
	if w.fail != nil {
		return
	}
	quoted, err := jsontext.AppendQuote(w.out, s)
	if err != nil {
		w.fail = failed("the text has characters that cannot be returned")
		return
	}
	w.out = quoted
	w.raw("") // the checks
}

func (w *writer) done() (json.RawMessage, *worker.Failure) {
	if w.fail != nil {
		return nil, w.fail
	}
	return w.out, nil
}
