package catalog

import (
	"errors"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// wordsOf says what is wrong with a file of JSON, with nothing of the types that
// it is read into. members are the words for a member that there is not.
func wordsOf(err error, members string) string {
	if syntax := new(jsontext.SyntacticError); errors.As(err, &syntax) {
		return "it is not valid JSON at byte " + strconv.FormatInt(syntax.ByteOffset, 10)
	}
	wrong := new(json.SemanticError)
	switch {
	case !errors.As(err, &wrong):
		return err.Error()
	case errors.Is(err, json.ErrUnknownName):
		return "there is no member " + string(wrong.JSONPointer) + "; " + members
	case wrong.JSONPointer == "":
		return "it is of another type than it has to be, which is an object"
	}
	return string(wrong.JSONPointer) + " is of another type than it has to be"
}
