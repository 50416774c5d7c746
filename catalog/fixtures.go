package catalog

import (
	"bytes"
	"cmp"
	"errors"
	"io/fs"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/toolwarrant/toolwarrant/fault"
)

const (
	fixtureFile  = "fixtures.json"
	workspaceDir = "fixtures"
)

// Recording is what fixtures.json of a tool holds. With it, a tool that uses
// the network earns its Local Pass without it: its fetches are answered from
// here, its credentials are made up, and the state file says that the pass
// was of mode fixture.
//
// The file fixtures.json stands beside spec.json:
//
//	{
//	  "version": 1,
//	  "source": "which documentation the shapes follow, and what is unverified",
//	  "env": {"EXAMPLE_API_KEY": "fixture-key"},
//	  "fixtures": [
//	    {
//	      "request": {
//	        "method": "GET",
//	        "url": "https://api.example.com/v1/a?b=c",
//	        "headers": {"x-api-key": "fixture-key"}
//	      },
//	      "response": {"status": 200, "headers": {"content-type": "application/json"}, "body": {"x": 1}}
//	    }
//	  ]
//	}
//
// A body that is a JSON string is sent as its text; any other JSON value is
// sent as the JSON that it is. An absent body is empty.
type Recording struct {
	Env      map[string]string // made-up values of placeholders, by name
	Fixtures []Fixture
}

// Fixture is one recorded exchange.
type Fixture struct {
	Request  FixtureRequest  `json:"request"`
	Response FixtureResponse `json:"response"`
}

// FixtureRequest is what a request has to be for its fixture to answer. What
// it does not state may be anything.
type FixtureRequest struct {
	Method  string            `json:"method"` // "" is GET
	URL     string            `json:"url"`    // absolute, compared as it is written; {time} is any time
	Headers map[string]string `json:"headers,omitzero"`
	// A JSON string is compared as text, any other value as the JSON that it
	// is: the order of members and spaces do not matter.
	Body jsontext.Value `json:"body,omitzero"`
}

// Sent is a request as it was made.
type Sent struct {
	Method string // "" is GET
	URL    string
	Header func(name string) string // the value of a header; nil = there are none
	Body   []byte
}

func (r FixtureRequest) matches(s Sent) bool {
	get := func(method string) string { return cmp.Or(method, "GET") }
	if !sameAddress(r.URL, s.URL) || !strings.EqualFold(get(r.Method), get(s.Method)) {
		return false
	}
	for name, value := range r.Headers {
		if s.Header == nil || s.Header(name) != value {
			return false
		}
	}
	return r.Body == nil || sameBody(r.Body, s.Body)
}

// timeMark stands in the address of a fixture for a date or a time of the
// call, which is another one each time. A URL as it is sent has no braces.
const timeMark = "{time}"

var timeText = regexp.MustCompile(`^(?:[0-9TZ:.-]|%3A)+`)

// sameAddress compares an address with the one that was sent: as it is
// written, but for each timeMark, which stands for digits and what may be
// between those of a date, percent-encoded or not.
func sameAddress(want, sent string) bool {
	for {
		before, after, marked := strings.Cut(want, timeMark)
		if !marked {
			return want == sent
		}
		rest, ok := strings.CutPrefix(sent, before)
		if !ok {
			return false
		}
		if sent = timeText.ReplaceAllLiteralString(rest, ""); len(sent) == len(rest) {
			return false
		}
		want = after
	}
}

func sameBody(want jsontext.Value, sent []byte) bool {
	if want.Kind() == '"' {
		var text string
		return json.Unmarshal(want, &text) == nil && text == string(sent)
	}
	a, b := want.Clone(), jsontext.Value(sent).Clone()
	return a.Canonicalize() == nil && b.Canonicalize() == nil && bytes.Equal(a, b)
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

// Match gives the first fixture that answers the request.
func (r Recording) Match(s Sent) (Fixture, bool) {
	for _, f := range r.Fixtures {
		if f.Request.matches(s) {
			return f, true
		}
	}
	return Fixture{}, false
}

// Fixtures reads the fixtures of a tool: of a bundled one from the binary, of
// a folder from fixtures.json in it. ok is false when there are none; a file
// that cannot be read or understood is an error of code USAGE.
func Fixtures(t *Tool) (r Recording, ok bool, err error) {
	file := besidePath(t, fixtureFile)
	switch data, wrong, err := readBeside(t, fixtureFile); {
	case errors.Is(err, fs.ErrNotExist):
		return Recording{}, false, nil
	case err != nil:
		return Recording{}, false, badFixtures(file, wrong, err)
	default:
		return parseFixtures(file, data)
	}
}

// Workspace gives the files that a Local Pass of the tool begins with: the
// folder fixtures/ beside its spec.json; nil when it has none.
func Workspace(t *Tool) fs.FS {
	files := Beside(t)
	if files == nil {
		return nil
	}
	seed, err := fs.Sub(files, workspaceDir)
	if err != nil {
		return nil
	}
	if st, err := fs.Stat(seed, "."); err != nil || !st.IsDir() {
		return nil
	}
	return seed
}

func parseFixtures(file string, data []byte) (Recording, bool, error) {
	var doc struct {
		Version  int               `json:"version"`
		Source   string            `json:"source"`
		Env      map[string]string `json:"env,omitzero"`
		Fixtures []Fixture         `json:"fixtures"`
	}
	if err := json.Unmarshal(data, &doc, json.RejectUnknownMembers(true)); err != nil {
		return Recording{}, false, badFixtures(file, wordsOf(err, "a file of fixtures has version, source, env and fixtures, a fixture request and response, a request method, url, headers and body, and a response status, headers and body"), err)
	}
	if doc.Version != dataVersion {
		return Recording{}, false, badFixtures(file, "not of version 1", nil)
	}
	if doc.Source == "" {
		return Recording{}, false, badFixtures(file, "it does not name the source of its shapes", nil)
	}
	for _, f := range doc.Fixtures {
		if f.Request.URL == "" || f.Response.Status < 200 || f.Response.Status > 599 {
			return Recording{}, false, badFixtures(file, "a fixture needs request.url and a response.status from 200 to 599", nil)
		}
	}
	return Recording{doc.Env, doc.Fixtures}, len(doc.Fixtures) > 0, nil
}

func badFixtures(file, what string, cause error) error {
	return fault.New(fault.Usage, "bad-fixtures", "%s is not a fixture file: %s", file, what).At(file, "", 0, 0).Because(cause)
}
