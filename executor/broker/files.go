package broker

import (
	"context"
	"encoding/json"

	"github.com/toolwarrant/toolwarrant/executor/filesystem"
	"github.com/toolwarrant/toolwarrant/executor/worker"
)

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
