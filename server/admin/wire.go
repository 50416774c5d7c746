package admin

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/internal/suggest"
)

// statuses of the codes; what is not here is 500.
var statuses = map[fault.Code]int{
	fault.SpecParse: 422, fault.SpecInvariant: 422, fault.LocalPassFailed: 422,
	fault.ResolverReject: 403, fault.PolicyDenied: 403, fault.ApprovalDenied: 403, fault.NotFound: 404, fault.NotActive: 409, fault.Revoked: 409,
	fault.InvalidArguments: 400, fault.Usage: 400, fault.Unauthenticated: 401, fault.RateLimited: 429, fault.ApprovalPending: 202,
	fault.InvalidInput: 422, fault.HelperRuntime: 422, fault.Security: 422, fault.ResourceLimit: 422, fault.Timeout: 422,
	fault.JSError: 422, fault.RuntimeError: 422, fault.Interrupted: 503,
	fault.AuditUnavailable: 503, fault.PolicyUnavailable: 503, fault.Internal: 500,
}

// byReason are the statuses of failures that HTTP has a word of its own for.
var byReason = map[string]int{
	"precondition-required": http.StatusPreconditionRequired, "precondition-failed": http.StatusPreconditionFailed,
	"changed-on-disk": http.StatusPreconditionFailed, "body-too-large": http.StatusRequestEntityTooLarge,
	"content-type": http.StatusUnsupportedMediaType, "no-record": http.StatusNotFound, "not-offered": http.StatusNotImplemented,
	"not-settled": http.StatusConflict, "answered": http.StatusConflict, "name-conflict": http.StatusConflict, "read-only": http.StatusConflict, "in-service": http.StatusConflict, "ended": http.StatusConflict,
}

func statusOf(f *fault.Error) int {
	if status, ok := byReason[f.Reason]; ok {
		return status
	}
	if status, ok := statuses[f.Code]; ok {
		return status
	}
	return http.StatusInternalServerError
}

// fail answers with a failure; status 0 = the one of its code.
func (s *Server) fail(w http.ResponseWriter, err error, status int) {
	f := fault.From(err)
	if f.Code == fault.Internal {
		s.opt.Logger.Error().Err(errors.Unwrap(f)).Str("reason", f.Reason).Msg("the admin interface failed")
	}
	if status == 0 {
		status = statusOf(f)
	}
	shown := *f
	shown.File = "" // a path of the server is nothing to a client
	s.answer(w, answer{status: status, body: map[string]any{"error": &shown}})
}

// answer writes a whole answer. What a call said passed its mask, and what a
// document says is its author's.
func (s *Server) answer(w http.ResponseWriter, a answer) {
	if a.status == 0 {
		a.status = http.StatusOK
	}
	var body bytes.Buffer
	if a.body != nil {
		enc := json.NewEncoder(&body)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(a.body); err != nil {
			s.opt.Logger.Error().Err(err).Msg("an answer of the admin interface has no JSON form")
			a.status = http.StatusInternalServerError
			body.Reset()
			body.WriteString(`{"error":{"code":"INTERNAL","reason":"unexpected","message":"an unexpected failure inside toolwarrant; see the log","file":null,"pointer":null,"line":null,"column":null}}`)
		}
		w.Header().Set("Content-Type", "application/json")
	}
	for k, v := range a.header {
		w.Header().Set(k, v)
	}
	if a.status == http.StatusTooManyRequests || a.status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTime))
	w.WriteHeader(a.status)
	_, _ = w.Write(body.Bytes())
}

// arrive reads the whole body, bounded in bytes; its time is that of the listener.
func (c *call) arrive() ([]byte, error) {
	data, err := io.ReadAll(http.MaxBytesReader(c.w, c.r.Body, c.s.opt.MaxBodyBytes))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, fault.New(fault.Usage, "body-too-large", "the body has more than %d bytes; the operator can raise admin.max-body-bytes", c.s.opt.MaxBodyBytes)
	case err != nil:
		return nil, fault.New(fault.Usage, "unreadable", "the body could not be read to its end").Because(err)
	}
	return data, nil
}

// decode reads a body that is one JSON object of the type of v and nothing
// else. An empty body is {}. Members that v does not have are refused, as are
// members twice and text that is not UTF-8.
func decode(data []byte, v any) error {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil
	}
	if data[0] == 'n' { // null is no object
		return fault.New(fault.Usage, "bad-value", "the body wants to be an object")
	}
	err := jsonv2.Unmarshal(data, v, jsonv2.RejectUnknownMembers(true))
	if err == nil {
		return nil
	}
	var semantic *jsonv2.SemanticError
	if errors.As(err, &semantic) {
		p := semantic.JSONPointer
		if errors.Is(semantic.Err, jsonv2.ErrUnknownName) {
			f := fault.New(fault.Usage, "unknown-member", "the body has an unknown member %q%s", clip(p.LastToken()), meant(p.LastToken(), membersAt(reflect.TypeOf(v), p.Parent())))
			return f.At("", string(p), 0, 0)
		}
		return fault.New(fault.Usage, "bad-value", "the body has a value of another type than is wanted").At("", string(p), 0, 0).Because(err)
	}
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		if errors.Is(syntax.Err, jsontext.ErrDuplicateName) {
			return fault.New(fault.Usage, "duplicate-member", "the body has a member twice").At("", string(syntax.JSONPointer), 0, 0)
		}
		return fault.New(fault.Usage, "bad-syntax", "the body is not JSON, at byte %d", syntax.ByteOffset).At("", string(syntax.JSONPointer), 0, 0)
	}
	return fault.New(fault.Usage, "bad-syntax", "the body is not JSON").Because(err)
}

// read is decode for a whole request.
func (c *call) read(v any) error {
	return decode(c.data, v)
}

// readNothing is read for a request that says nothing in its body but {}.
func (c *call) readNothing() error {
	return c.read(new(struct{}))
}

// membersAt lists the members that the object at a pointer may have.
func membersAt(t reflect.Type, p jsontext.Pointer) (names []string) {
	step := func(t reflect.Type) reflect.Type {
		for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
			t = t.Elem()
		}
		return t
	}
	t = step(t)
	for token := range p.Tokens() {
		if t.Kind() != reflect.Struct {
			return nil
		}
		for i := range t.NumField() {
			if name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ","); name == token {
				t = step(t.Field(i).Type)
				break
			}
		}
	}
	if t.Kind() == reflect.Struct {
		for i := range t.NumField() {
			name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
			names = append(names, name)
		}
	}
	return names
}

// meant is the end of a message about an unknown word.
func meant(word string, known []string) string {
	if near := suggest.Nearest(word, known); near != "" {
		return "; did you mean " + strconv.Quote(near) + "?"
	}
	return ""
}

func clip(s string) string {
	if len(s) > 64 {
		s = strings.ToValidUTF8(s[:64], "") + "..."
	}
	return s
}

// query reads the query of a request that may have these parameters, each
// once but those that end in "*", which may be given several times.
func (c *call) query(known ...string) (url.Values, error) {
	values, err := url.ParseQuery(c.r.URL.RawQuery)
	if err != nil {
		return nil, fault.New(fault.Usage, "query", "the query of the URL cannot be read")
	}
	names := make([]string, len(known))
	for i, k := range known {
		names[i] = strings.TrimSuffix(k, "*")
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		switch i := slices.Index(names, name); {
		case i < 0:
			return nil, fault.New(fault.Usage, "query", "there is no query parameter %q here%s", clip(name), meant(name, names))
		case len(values[name]) > 1 && names[i] == known[i]:
			return nil, fault.New(fault.Usage, "query", "the query parameter %q is given twice", name)
		}
		for _, v := range values[name] {
			if len(v) > 4096 || !utf8.ValidString(v) {
				return nil, fault.New(fault.Usage, "query", "the query parameter %q is too long or not UTF-8", name)
			}
		}
	}
	return values, nil
}

// Bounds of a page.
const (
	pageDefault = 50
	pageMost    = 200
)

// limit reads the query parameter of that name.
func limit(v url.Values) (int, error) {
	text := v.Get("limit")
	if text == "" {
		return pageDefault, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > pageMost {
		return 0, fault.New(fault.Usage, "limit", "limit is a whole number from 1 to %d", pageMost)
	}
	return n, nil
}

// cursor is where a page ended. Clients get it as text that says nothing to
// them, and bring it back.
type cursor struct {
	Kind  string `json:"k"`
	After string `json:"a"`
}

func (c cursor) String() string {
	raw, err := json.Marshal(c)
	if err != nil {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(raw)
}

// after reads a cursor of a kind; "" without one.
func after(v url.Values, kind string) (string, error) {
	text := v.Get("cursor")
	if text == "" {
		return "", nil
	}
	var c cursor
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err == nil {
		err = jsonv2.Unmarshal(raw, &c, jsonv2.RejectUnknownMembers(true))
	}
	if err != nil || c.Kind != kind || c.After == "" {
		return "", fault.New(fault.Usage, "cursor", "the cursor is none of this list; begin without one")
	}
	return c.After, nil
}

// page cuts one page out of items that are sorted by key, which is unique.
func page[T any](v url.Values, kind string, items []T, key func(T) string) (part []T, next *string, err error) {
	n, err := limit(v)
	if err != nil {
		return nil, nil, err
	}
	from, err := after(v, kind)
	if err != nil {
		return nil, nil, err
	}
	start := 0
	if from != "" {
		for start < len(items) && key(items[start]) <= from {
			start++
		}
	}
	end := min(start+n, len(items))
	if end < len(items) {
		text := cursor{kind, key(items[end-1])}.String()
		next = &text
	}
	return items[start:end], next, nil
}

// idShape is what an id of ours looks like.
var idShape = regexp.MustCompile(`^[A-Za-z0-9_-]{1,128}$`)

// id reads the path parameter of that name as an id.
func (c *call) id(name string) (string, error) {
	id := c.r.PathValue(name)
	if !idShape.MatchString(id) {
		return "", fault.New(fault.Usage, "id", "the %s in the path is no id", name)
	}
	return id, nil
}

// toolName reads the path parameter "tool": a name or an id.
func (c *call) toolName() (string, error) {
	name := c.r.PathValue("tool")
	if name == "" || len(name) > 256 || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
		return "", fault.New(fault.Usage, "id", "the tool in the path is neither a name nor a toolId")
	}
	return name, nil
}
