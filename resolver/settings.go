package resolver

import (
	"bytes"
	"encoding/json"
	stderrors "errors"
	"fmt"
	"strconv"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/token"
	cuejson "cuelang.org/go/encoding/json"
)

const (
	settingsFile = "rego/data.json"
	settingsPath = "toolwarrant.settings"
)

// checkSettings holds rego/data.json against #Settings. It compiles CUE once
// per activation, in a context that goes with the revision.
func (l *layers) checkSettings(s *source, root cue.Value) error {
	schema := root.LookupPath(cue.ParsePath("#Settings"))
	if !schema.Exists() {
		return cueFault(s.name, "cue/policy.cue does not define #Settings")
	}
	expr, err := cuejson.Extract(settingsFile, s.data)
	if err != nil {
		return cueFault(s.name, "%s", notJSON(s.data)).Because(err)
	}
	settings := l.ctx.BuildExpr(expr).LookupPath(cue.ParsePath(settingsPath))
	err = schema.Unify(settings).Validate(cue.Concrete(true))
	if err == nil {
		err = hideWithoutOrigins(settings)
	}
	if err != nil {
		return cueFault(s.name, "the settings do not fit: %s", settingsLine(expr, schema, err)).Because(err)
	}
	l.records, l.hides = asksForRecord(settings), hidesArguments(settings)
	return nil
}

// hidesArguments reports whether the settings keep any argument out of the log.
func hidesArguments(settings cue.Value) bool {
	at := func(name string) cue.Value { return settings.LookupPath(cue.ParsePath("log." + name)) }
	if list, err := at("maskParams").List(); err == nil && list.Next() {
		return true
	}
	if fields, err := at("maskParams").Fields(); err == nil && fields.Next() {
		return true
	}
	fields, err := at("dropFields").List()
	for err == nil && fields.Next() {
		if name, _ := fields.Value().String(); name == "/params" {
			return true
		}
	}
	return false
}

// asksForRecord reports whether the settings of the log say more than which
// arguments are masked, so that a decision has to say it too.
func asksForRecord(settings cue.Value) bool {
	log := settings.LookupPath(cue.ParsePath("log"))
	if log.LookupPath(cue.ParsePath("maskParams")).IncompleteKind() == cue.StructKind {
		return true
	}
	for _, name := range []string{"dropFields", "resultContent"} {
		list, err := log.LookupPath(cue.ParsePath(name)).List()
		if err == nil && list.Next() {
			return true
		}
	}
	return false
}

// hideWithoutOrigins refuses a selector that has no effect: a tool is hidden
// from lists as well, which are no calls and come through no door.
func hideWithoutOrigins(settings cue.Value) error {
	rules, err := settings.LookupPath(cue.ParsePath("access.rules")).List()
	if err != nil {
		return err
	}
	for i := 0; rules.Next(); i++ {
		effect, err := rules.Value().LookupPath(cue.ParsePath("effect")).String()
		if err != nil {
			return err
		}
		origins := rules.Value().LookupPath(cue.ParsePath("origins"))
		if effect != "deny" && origins.Exists() {
			return errors.Newf(startOf(origins), "%s.access.rules.%d.origins: a rule with the effect %q hides a tool wherever a call comes from; leave origins out, or take the effect \"deny\"",
				settingsPath, i, effect)
		}
	}
	return nil
}

// settingsLine is oneLine with the path and the place in rego/data.json: of
// what is missing there, the place of what it is missing from.
func settingsLine(expr ast.Expr, schema cue.Value, err error) string {
	at, path, text := explainCUE(err)
	name := settingsPath
	if len(path) > 0 {
		if text == notAllowed {
			text += meant(path[len(path)-1], fieldsOf(schema, nil))
		}
		steps := append([]string{"toolwarrant", "settings"}, path[1:]...) // for #Settings
		if at.Filename() != settingsFile {
			at = nearest(expr, steps)
		}
		for _, step := range path[1:] {
			name += "." + step
		}
		text = name + ": " + text
	}
	if !at.IsValid() || at.Filename() != settingsFile {
		return settingsFile + ":1: " + text
	}
	return fmt.Sprintf("%s:%d: %s", settingsFile, at.Line(), text)
}

// nearest is where the last step of a path stands that is there.
func nearest(e ast.Expr, path []string) token.Pos {
	at := e.Pos()
	for _, step := range path {
		var next ast.Expr
		switch e := e.(type) {
		case *ast.StructLit:
			if f := find(e.Elts, []string{step}); f != nil {
				at, next = f.Pos(), f.Value
			}
		case *ast.ListLit:
			if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(e.Elts) {
				at, next = e.Elts[i].Pos(), e.Elts[i]
			}
		}
		if next == nil {
			break
		}
		e = next
	}
	return at
}

// notJSON says where the settings stop being JSON, and why.
func notJSON(data []byte) string {
	var syntax *json.SyntaxError
	if err := json.Unmarshal(data, new(any)); !stderrors.As(err, &syntax) {
		return settingsFile + " is not a JSON object"
	}
	before := data[:max(0, min(int(syntax.Offset)-1, len(data)))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := len(before) - bytes.LastIndexByte(before, '\n')
	return fmt.Sprintf("%s:%d:%d: the file is no JSON: %v", settingsFile, line, column, syntax)
}

// fieldsOf adds the names of all fields of a shape to known.
func fieldsOf(shape cue.Value, known []string) []string {
	if entry := shape.LookupPath(cue.MakePath(cue.AnyIndex)); entry.Exists() {
		return fieldsOf(entry, known)
	}
	fields, err := shape.Fields(cue.Optional(true))
	for err == nil && fields.Next() {
		known = fieldsOf(fields.Value(), append(known, fields.Selector().Unquoted()))
	}
	return known
}
