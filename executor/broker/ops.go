package broker

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/go-json-experiment/json/jsontext"

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
//	fs.readBytes  [path]                          {"$bytes"}
//	fs.writeBytes [path, {"$bytes"} or text]      path
//	fs.appendText [path, content]                 path
//	fs.editText   [path, old, new, all]           {"path", "replacements"}
//	fs.copy       [from, to, {overwrite}]         the new path
//	fs.move       [from, to, {overwrite}]         the new path
//	fs.delete     [path]                          boolean
//	fs.deleteDir  [path]                          number of entries removed
//	fs.searchInFiles [dir = ".", glob = "*", pattern, {caseInsensitive, limit, maxDepth}]
//	                                              [{"file", "line", "text"}]
//	process.run   [worker.Command]                worker.CommandResult
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

	worker.OpFSReadBytes:     fsReadBytes,
	worker.OpFSWriteBytes:    fsWriteBytes,
	worker.OpFSAppendText:    fsAppendText,
	worker.OpFSEditText:      fsEditText,
	worker.OpFSCopy:          fsCopy,
	worker.OpFSMove:          fsMove,
	worker.OpFSDelete:        fsDelete,
	worker.OpFSDeleteDir:     fsDeleteDir,
	worker.OpFSSearchInFiles: fsSearchInFiles,

	worker.OpProcessRun: processRun,
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
