package broker

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/toolwarrant/toolwarrant/executor/filesystem"
	"github.com/toolwarrant/toolwarrant/executor/worker"
)

func fsReadBytes(ctx context.Context, b *Broker, in *args) (json.RawMessage, *worker.Failure) {
	path := in.str(0, "the path")
	if in.fail != nil {
		return nil, in.fail
	}
	data, fail := b.files.ReadBytes(ctx, path)
	return reply(struct {
		Bytes []byte `json:"$bytes"`
	}{data}, fail)
}

func fsWriteBytes(ctx context.Context, b *Broker, in *args) (json.RawMessage, *worker.Failure) {
	path, content := in.str(0, "the path"), in.bytes(1, "the content")
	if in.fail != nil {
		return nil, in.fail
	}
	return reply(b.files.WriteBytes(ctx, path, content))
}

func fsAppendText(ctx context.Context, b *Broker, in *args) (json.RawMessage, *worker.Failure) {
	path, content := in.str(0, "the path"), in.required(1, "the content")
	if in.fail != nil {
		return nil, in.fail
	}
	return reply(b.files.AppendText(ctx, path, content))
}

func fsEditText(ctx context.Context, b *Broker, in *args) (json.RawMessage, *worker.Failure) {
	path, old, text := in.str(0, "the path"), in.str(1, "the text to replace"), in.required(2, "the new text")
	all := in.flag(3, "all")
	if in.fail != nil {
		return nil, in.fail
	}
	done, fail := b.files.EditText(ctx, path, old, text, all)
	return reply(struct {
		Path         string `json:"path"`
		Replacements int    `json:"replacements"`
	}(done), fail)
}

// places reads the arguments that copy and move share.
func (a *args) places() (from, to string, opts filesystem.MoveOptions) {
	from, to = a.str(0, "the path"), a.str(1, "the new path")
	var o struct {
		Overwrite *bool `json:"overwrite"`
	}
	a.options(2, &o)
	return from, to, filesystem.MoveOptions{Overwrite: or(o.Overwrite, false)}
}

func fsCopy(ctx context.Context, b *Broker, in *args) (json.RawMessage, *worker.Failure) {
	from, to, opts := in.places()
	if in.fail != nil {
		return nil, in.fail
	}
	return reply(b.files.Copy(ctx, from, to, opts))
}

func fsMove(ctx context.Context, b *Broker, in *args) (json.RawMessage, *worker.Failure) {
	from, to, opts := in.places()
	if in.fail != nil {
		return nil, in.fail
	}
	return reply(b.files.Move(ctx, from, to, opts))
}

func fsDelete(ctx context.Context, b *Broker, in *args) (json.RawMessage, *worker.Failure) {
	path := in.str(0, "the path")
	if in.fail != nil {
		return nil, in.fail
	}
	return reply(b.files.Delete(ctx, path))
}

func fsDeleteDir(ctx context.Context, b *Broker, in *args) (json.RawMessage, *worker.Failure) {
	path := in.str(0, "the folder")
	if in.fail != nil {
		return nil, in.fail
	}
	return reply(b.files.DeleteDir(ctx, path))
}

func fsSearchInFiles(ctx context.Context, b *Broker, in *args) (json.RawMessage, *worker.Failure) {
	dir, glob, pattern := in.str(0, "the folder"), in.str(1, "the glob"), in.str(2, "the pattern")
	var o struct {
		CaseInsensitive *bool   `json:"caseInsensitive"`
		Limit           *number `json:"limit"`
		MaxDepth        *number `json:"maxDepth"`
	}
	if in.options(3, &o); in.fail != nil {
		return nil, in.fail
	}
	found, fail := b.files.SearchInFiles(ctx, dir, glob, pattern, filesystem.SearchOptions{
		CaseInsensitive: or(o.CaseInsensitive, false), Limit: or(o.Limit.int(), 0), MaxDepth: or(o.MaxDepth.int(), 0),
	})
	if fail != nil {
		return nil, fail
	}
	out := []byte{'['}
	for i, m := range found {
		if i > 0 {
			out = append(out, ',')
		}
		out = quote(append(out, `{"file":`...), m.File)
		out = strconv.AppendInt(append(out, `,"line":`...), int64(m.Line), 10)
		out = append(quote(append(out, `,"text":`...), m.Text), '}')
	}
	return append(out, ']'), nil
}
