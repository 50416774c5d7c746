package resolver

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/token"

	"github.com/toolwarrant/toolwarrant/internal/suggest"
)

// shapeFile says what may stand in the others. Where a layer says something
// helps more than where its shape is written.
const shapeFile = "cue/policy.cue"

// notAllowed is what CUE says of a field that the shape does not have.
const notAllowed = "field not allowed"

// layerFields are the fields of a baseline, a profile, their constraints and a
// binding.
var layerFields = []string{
	"allowClasses", "category", "constraints", "denyClasses", "description", "extends", "fileRead", "fileWrite", "fsBasePath",
	"group", "hosts", "hostsDeny", "maxLogLines", "maxMemoryBytes", "maxOutputBytes", "maxStatements", "mode", "name", "network",
	"ports", "profile", "riskLevel", "tag", "timeoutSeconds", "toolId",
}

// meant suggests a field for one that is not allowed. One that is known has
// only the wrong place.
func meant(field string, known []string) string {
	if near := suggest.Nearest(field, known); near != "" && !slices.Contains(known, field) {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}

// oneLine is the first error of a CUE error, with its position.
func oneLine(err error) string {
	at, path, text := explainCUE(err)
	if len(path) > 0 {
		if text == notAllowed {
			text += meant(path[len(path)-1], layerFields)
		}
		text = strings.Join(path, ".") + ": " + text
	}
	if !at.IsValid() {
		return text
	}
	return fmt.Sprintf("%s:%d: %s", at.Filename(), at.Line(), text)
}

// explainCUE takes the first error of a CUE error apart: where it is, which
// field it is about, and what is wrong. CUE reports a value that is none of a
// choice as one error for each of the choice; here it is one sentence.
func explainCUE(err error) (at token.Pos, path []string, text string) {
	list := errors.Errors(err)
	if len(list) == 0 {
		return token.NoPos, nil, err.Error()
	}
	about := list[:1]
	path = list[0].Path()
	for _, e := range list[1:] {
		if isChoice(list[0]) && slices.Equal(e.Path(), path) {
			about = append(about, e)
		}
	}
	if text = noneOf(about); text == "" {
		first := about[0]
		// What is wrong with one alternative says more than how many there are.
		if i := slices.IndexFunc(list, func(e errors.Error) bool { return !isChoice(e) }); i > 0 {
			first, path = list[i], list[i].Path()
			about = list[i : i+1]
		}
		format, args := first.Msg()
		if text = fmt.Sprintf(format, args...); text == "" { // not an error of CUE
			text = err.Error()
		}
	}
	for _, e := range about {
		for _, pos := range errors.Positions(e) {
			if pos.IsValid() && pos.Filename() != "" && (!at.IsValid() || at.Filename() == shapeFile) {
				at = pos
			}
		}
	}
	plain := make([]string, len(path))
	for i, step := range path {
		if plain[i] = step; strings.HasPrefix(step, `"`) {
			if s, err := strconv.Unquote(step); err == nil {
				plain[i] = s
			}
		}
	}
	return at, plain, text
}

// isChoice recognises the head of the errors about a choice.
func isChoice(e errors.Error) bool {
	format, _ := e.Msg()
	return strings.HasSuffix(format, "errors in empty disjunction:")
}

// noneOf says which values a field takes, or "" where the errors are not all
// about a value that is none of a choice. Of the two values that conflict in
// each, the one that is in all of them is the wrong one.
func noneOf(about []errors.Error) string {
	var pairs [][2]string
	for _, e := range about {
		if isChoice(e) {
			continue
		}
		format, args := e.Msg()
		if !strings.HasPrefix(format, "conflicting values %s and %s") || len(args) < 2 {
			return ""
		}
		pairs = append(pairs, [2]string{fmt.Sprint(args[0]), fmt.Sprint(args[1])})
	}
	if len(pairs) < 2 {
		return ""
	}
	for _, wrong := range pairs[0] {
		var allowed []string
		for _, p := range pairs {
			switch wrong {
			case p[0]:
				allowed = append(allowed, p[1])
			case p[1]:
				allowed = append(allowed, p[0])
			}
		}
		if len(allowed) != len(pairs) {
			continue
		}
		slices.Sort(allowed)
		return fmt.Sprintf("%s is none of %s", clip(wrong), strings.Join(slices.Compact(allowed), ", "))
	}
	return ""
}

// conjuncts are the expressions that a value is made of, each as it is
// written: those of every file and of what a file refers to.
func conjuncts(v cue.Value) []cue.Value {
	op, args := v.Expr()
	if v.Source() != nil || op != cue.AndOp {
		return []cue.Value{v}
	}
	var out []cue.Value
	for _, a := range args {
		out = append(out, conjuncts(a)...)
	}
	return out
}

// startOf is where the field of a value begins.
func startOf(v cue.Value) token.Pos {
	if s := v.Source(); s != nil && s.Pos().IsValid() {
		return s.Pos()
	}
	return v.Pos()
}
