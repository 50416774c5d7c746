package catalog

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/toolwarrant/toolwarrant/fault"
)

const (
	fixtureFile     = "fixtures.json"
	maxFixtureBytes = 8 << 20
)

// Fixture is one recorded exchange. With fixtures, a tool that uses the
// network earns its Local Pass without it: its fetches are answered from
// here, and the state file says that the pass was of mode fixture.
//
// The file fixtures.json stands beside spec.json:
//
//	{
//	  "version": 1,
//	  "source": "which documentation the shapes follow, and what is unverified",
//	  "fixtures": [
//	    {
//	      "request": {"method": "GET", "url": "https://api.example.com/v1/a?b=c"},
//	      "response": {"status": 200, "headers": {"content-type": "application/json"}, "body": {"x": 1}}
//	    }
//	  ]
//	}
//
// A body that is a JSON string is sent as its text; any other JSON value is
// sent as the JSON that it is. An absent body is empty.
type Fixture struct {
	Request  FixtureRequest  `json:"request"`
	Response FixtureResponse `json:"response"`
}

// FixtureRequest is what a request has to be for its fixture to answer.
type FixtureRequest struct {
	Method string `json:"method"` // "" is GET
	URL    string `json:"url"`    // absolute, compared as it is written
}

// FixtureResponse is the recorded answer.
type FixtureResponse struct {
	Status  int               `json:"status"`
	Headers map[string]string `json:"headers,omitzero"`
	Body    jsontext.Value    `json:"body,omitzero"`
}

// Bytes is the body as it goes over the wire.
func (r FixtureResponse) Bytes() []byte {
	if r.Body.Kind() == '"' {
		var text string
		if json.Unmarshal(r.Body, &text) == nil {
			return []byte(text)
		}
	}
	return r.Body
}

// MatchFixture gives the first fixture that answers the request; an empty
// method is GET.
func MatchFixture(fixtures []Fixture, method, url string) (Fixture, bool) {
	get := func(method string) string { return cmp.Or(method, "GET") }
	for _, f := range fixtures {
		if f.Request.URL == url && strings.EqualFold(get(f.Request.Method), get(method)) {
			return f, true
		}
	}
	return Fixture{}, false
}

// Fixtures reads the fixtures of a tool: of a bundled one from the binary, of
// a folder from fixtures.json in it. ok is false when there are none; a file
// that cannot be read or understood is an error of code USAGE.
func Fixtures(t *Tool) (fixtures []Fixture, ok bool, err error) {
	var data []byte
	file := fixtureFile
	if t.Source == SourceBuiltin && t.Path == "" {
		file = path.Join("tools", t.Spec.Name, fixtureFile)
		data, err = fs.ReadFile(bundledFiles, file)
	} else {
		st, statErr := os.Stat(t.Path)
		if statErr != nil || !st.IsDir() {
			return nil, false, nil // a single document has no folder of its own
		}
		file = filepath.Join(t.Path, fixtureFile)
		if st, err = os.Stat(file); err == nil && st.Size() > maxFixtureBytes {
			return nil, false, badFixtures(file, "larger than 8 MiB", nil)
		}
		data, err = os.ReadFile(file)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, badFixtures(file, "not readable", err)
	}
	return parseFixtures(file, data)
}

func parseFixtures(file string, data []byte) ([]Fixture, bool, error) {
	var doc struct {
		Version  int       `json:"version"`
		Source   string    `json:"source"`
		Fixtures []Fixture `json:"fixtures"`
	}
	if err := json.Unmarshal(data, &doc, json.RejectUnknownMembers(true)); err != nil {
		return nil, false, badFixtures(file, err.Error(), err)
	}
	if doc.Version != dataVersion {
		return nil, false, badFixtures(file, "not of version 1", nil)
	}
	if doc.Source == "" {
		return nil, false, badFixtures(file, "it does not name the source of its shapes", nil)
	}
	for _, f := range doc.Fixtures {
		if f.Request.URL == "" || f.Response.Status < 200 || f.Response.Status > 599 {
			return nil, false, badFixtures(file, "a fixture needs request.url and a response.status from 200 to 599", nil)
		}
	}
	return doc.Fixtures, len(doc.Fixtures) > 0, nil
}

func badFixtures(file, what string, cause error) error {
	return fault.New(fault.Usage, "bad-fixtures", "%s is not a fixture file: %s", file, what).At(file, "", 0, 0).Because(cause)
}
