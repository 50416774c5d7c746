package broker

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/toolwarrant/toolwarrant/executor/filesystem"
	"github.com/toolwarrant/toolwarrant/executor/parser"
	"github.com/toolwarrant/toolwarrant/executor/worker"
)

var errShape = errors.New("broker: a value of the wrong shape")

// operation serves one kind of request.
type operation func(ctx context.Context, b *Broker, in *args) (json.RawMessage, *worker.Failure)

// operations is the whole list. Arguments stand in a JSON array; an absent,
// null or undefined one has its default.
//
//	class.lookup  [name]                          {"name"}
//	fetch         [url, {method, headers, body,   {"status", "statusText", "url", "contentType"|null,
//	               maxLength, startIndex}]         "headers": [[name, value]], "body": {"$bytes"},
//	                                               "truncated", "nextStartIndex"|null}
//	parser.csv    [text, {header, delimiter}]     array of arrays or of objects
//	parser.xml    [text]                          {"tag", "attrs", "text", "children"}
//	parser.yaml   [text]                          any value
//	fs.readText   [path]                          string
//	fs.writeText  [path, content]                 path
//	fs.list       [dir = "."]                     [path]
//	fs.exists     [path]                          boolean
//	fs.stat       [path]                          {"size", "mtime" in ms, "directory"}
//	fs.grep       [pattern, path, {caseInsensitive, limit, numbered}]     [line]
//	fs.lineCount  [path]                          number
//	fs.slice      [path, start, end]              [line]
//	fs.cut        [path, {fields, delimiter, regex}]                      [line]
//	fs.sort       [path, {reverse, numeric, caseInsensitive, unique}]     [line]
//	fs.find       [dir = ".", glob = "*", {maxDepth, type}]               [path]
//	fs.workspace  []                              "."
//	fs.readRoots  []                              ["."]
//
// A request body is a string or {"$bytes": base64}; headers are an object or a
// list of pairs. HTML is parsed where the program runs, so parser.html is not
// served.
var operations = map[worker.Op]operation{
	worker.OpClassLookup: classLookup,
	worker.OpFetch:       fetch,
	worker.OpParserCSV:   parseCSV,
	worker.OpParserXML:   parseXML,
	worker.OpParserYAML:  parseYAML,
	worker.OpFSReadText:  fsReadText,
	worker.OpFSWriteText: fsWriteText,
	worker.OpFSList:      fsList,
	worker.OpFSExists:    fsExists,
	worker.OpFSStat:      fsStat,
	worker.OpFSGrep:      fsGrep,
	worker.OpFSLineCount: fsLineCount,
	worker.OpFSSlice:     fsSlice,
	worker.OpFSCut:       fsCut,
	worker.OpFSSort:      fsSort,
	worker.OpFSFind:      fsFind,
	worker.OpFSWorkspace: fsWorkspace,
	worker.OpFSReadRoots: fsReadRoots,
}

// reply encodes a result. Text of the world may hold what JSON cannot.
func reply[T any](v T, fail *worker.Failure) (json.RawMessage, *worker.Failure) {
	if fail != nil {
		return nil, fail
	}
	switch v := any(v).(type) {
	case string:
		return quote(nil, v), nil
	case []string:
		out := []byte{'['}
		for i, s := range v {
			if i > 0 {
				out = append(out, ',')
			}
			out = quote(out, s)
			if len(out) > MaxReply {
				break // the caller refuses it
			}
		}
		return append(out, ']'), nil
	}
	out, err := json.Marshal(v)
	if err != nil {
		panic(err) // a plain value: cannot happen
	}
	return out, nil
}

// quote appends s as a JSON string; bytes that are not UTF-8 become U+FFFD.
func quote(out []byte, s string) []byte {
	quoted, _ := jsontext.AppendQuote(out, s)
	return quoted
}

func classLookup(_ context.Context, b *Broker, in *args) (json.RawMessage, *worker.Failure) {
	name := in.str(0, "the class name")
	if in.fail != nil {
		return nil, in.fail
	}
	return reply(map[string]string{"name": name}, b.class.Check(name))
}

func parseCSV(ctx context.Context, _ *Broker, in *args) (json.RawMessage, *worker.Failure) {
	text := in.str(0, "the text")
	var o struct {
		Header    *bool   `json:"header"`
		Delimiter *string `json:"delimiter"`
	}
	if in.options(1, &o); in.fail != nil {
		return nil, in.fail
	}
	return parser.CSV(ctx, text, parser.CSVOptions{Header: or(o.Header, false), Delimiter: or(o.Delimiter, "")})
}

func parseXML(ctx context.Context, _ *Broker, in *args) (json.RawMessage, *worker.Failure) {
	text := in.str(0, "the text")
	if in.fail != nil {
		return nil, in.fail
	}
	return parser.XML(ctx, text)
}

func parseYAML(ctx context.Context, _ *Broker, in *args) (json.RawMessage, *worker.Failure) {
	text := in.str(0, "the text")
	if in.fail != nil {
		return nil, in.fail
	}
	return parser.YAML(ctx, text)
}

func fsReadText(ctx context.Context, b *Broker, in *args) (json.RawMessage, *worker.Failure) {
	path := in.str(0, "the path")
	if in.fail != nil {
		return nil, in.fail
	}
	return reply(b.files.ReadText(ctx, path))
}

func fsWriteText(ctx context.Context, b *Broker, in *args) (json.RawMessage, *worker.Failure) {
	path, content := in.str(0, "the path"), in.str(1, "the content")
	if in.at(1) == nil {
		in.bad("the content is missing")
	}
	if in.fail != nil {
		return nil, in.fail
	}
	return reply(b.files.WriteText(ctx, path, content))
}

func fsList(ctx context.Context, b *Broker, in *args) (json.RawMessage, *worker.Failure) {
	dir := in.str(0, "the folder")
	if in.fail != nil {
		return nil, in.fail
	}
	return reply(b.files.List(ctx, dir))
}

func fsExists(ctx context.Context, b *Broker, in *args) (json.RawMessage, *worker.Failure) {
	path := in.str(0, "the path")
	if in.fail != nil {
		return nil, in.fail
	}
	return reply(b.files.Exists(ctx, path))
}

func fsStat(ctx context.Context, b *Broker, in *args) (json.RawMessage, *worker.Failure) {
	path := in.str(0, "the path")
	if in.fail != nil {
		return nil, in.fail
	}
	st, fail := b.files.Stat(ctx, path)
	return reply(struct {
		Size      int64 `json:"size"`
		Mtime     int64 `json:"mtime"`
		Directory bool  `json:"directory"`
	}(st), fail)
}

func fsGrep(ctx context.Context, b *Broker, in *args) (json.RawMessage, *worker.Failure) {
	pattern, path := in.str(0, "the pattern"), in.str(1, "the path")
	var o struct {
		CaseInsensitive *bool   `json:"caseInsensitive"`
		Numbered        *bool   `json:"numbered"`
		Limit           *number `json:"limit"`
	}
	if in.options(2, &o); in.fail != nil {
		return nil, in.fail
	}
	return reply(b.files.Grep(ctx, pattern, path, filesystem.GrepOptions{
		CaseInsensitive: or(o.CaseInsensitive, false), Numbered: or(o.Numbered, false), Limit: or(o.Limit.int(), 0),
	}))
}

func fsLineCount(ctx context.Context, b *Broker, in *args) (json.RawMessage, *worker.Failure) {
	path := in.str(0, "the path")
	if in.fail != nil {
		return nil, in.fail
	}
	return reply(b.files.LineCount(ctx, path))
}

func fsSlice(ctx context.Context, b *Broker, in *args) (json.RawMessage, *worker.Failure) {
	path := in.str(0, "the path")
	start, end := in.number(1, "start"), in.number(2, "end")
	if in.fail != nil {
		return nil, in.fail
	}
	return reply(b.files.Slice(ctx, path, start, end))
}

func fsCut(ctx context.Context, b *Broker, in *args) (json.RawMessage, *worker.Failure) {
	path := in.str(0, "the path")
	var o struct {
		Fields    []number `json:"fields"`
		Delimiter *string  `json:"delimiter"`
		Regex     *bool    `json:"regex"`
	}
	if in.options(1, &o); in.fail != nil {
		return nil, in.fail
	}
	fields := make([]int64, len(o.Fields))
	for i := range o.Fields {
		fields[i] = *o.Fields[i].int()
	}
	return reply(b.files.Cut(ctx, path, filesystem.CutOptions{Fields: fields, Delimiter: or(o.Delimiter, ""), Regex: or(o.Regex, false)}))
}

func fsSort(ctx context.Context, b *Broker, in *args) (json.RawMessage, *worker.Failure) {
	path := in.str(0, "the path")
	var o struct {
		Reverse         *bool `json:"reverse"`
		Numeric         *bool `json:"numeric"`
		CaseInsensitive *bool `json:"caseInsensitive"`
		Unique          *bool `json:"unique"`
	}
	if in.options(1, &o); in.fail != nil {
		return nil, in.fail
	}
	return reply(b.files.Sort(ctx, path, filesystem.SortOptions{
		Reverse: or(o.Reverse, false), Numeric: or(o.Numeric, false),
		CaseInsensitive: or(o.CaseInsensitive, false), Unique: or(o.Unique, false),
	}))
}

func fsFind(ctx context.Context, b *Broker, in *args) (json.RawMessage, *worker.Failure) {
	dir, glob := in.str(0, "the folder"), in.str(1, "the glob")
	var o struct {
		MaxDepth *number `json:"maxDepth"`
		Type     *string `json:"type"`
	}
	if in.options(2, &o); in.fail != nil {
		return nil, in.fail
	}
	return reply(b.files.Find(ctx, dir, glob, filesystem.FindOptions{MaxDepth: or(o.MaxDepth.int(), 0), Type: or(o.Type, "")}))
}

func fsWorkspace(_ context.Context, b *Broker, _ *args) (json.RawMessage, *worker.Failure) {
	return reply(b.files.Workspace())
}

func fsReadRoots(_ context.Context, b *Broker, _ *args) (json.RawMessage, *worker.Failure) {
	return reply(b.files.ReadRoots())
}
