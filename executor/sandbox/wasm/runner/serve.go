package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strconv"

	"github.com/toolwarrant/toolwarrant/executor/sandbox/wasm/frame"
)

// serve loads the module once and runs it as often as asked. What goes wrong
// before Hello is told as Done.
func serve(c Config, in io.Reader, out io.Writer) (int, error) {
	ctx := context.Background()
	w, r := frame.NewWriter(out), frame.NewReader(in, frame.MaxRequest)
	m, err := load(ctx, c)
	if err == nil {
		err = m.open(ctx, c.Mounts)
	}
	if err != nil {
		return codeRunner, errors.Join(err, w.WriteJSON(frame.Done, frame.Report{Code: codeRunner, Error: err.Error()}))
	}
	if err := w.Write(frame.Hello, []byte(strconv.Itoa(Version))); err != nil {
		return codeRunner, err
	}
	for {
		kind, body, err := r.Read()
		if errors.Is(err, io.EOF) {
			return 0, nil
		}
		if err != nil {
			return codeRunner, err
		}
		var req frame.Request
		if kind != frame.Run {
			return codeRunner, fmt.Errorf("a frame of kind %q where a run was expected", rune(kind))
		}
		if err := json.Unmarshal(body, &req); err != nil {
			return codeRunner, err
		}
		report := m.run(ctx, req, streams{
			in:  &input{w: w, r: r},
			out: &output{w: w, kind: frame.Out, left: req.MaxOutput},
			err: &output{w: w, kind: frame.Err, left: req.MaxOutput},
		})
		if err := w.WriteJSON(frame.Done, report); err != nil {
			return codeRunner, err
		}
	}
}

// output sends what a module writes. Beyond what is kept, and one byte that
// shows that there was more, it goes nowhere.
type output struct {
	w    *frame.Writer
	kind frame.Kind
	left int64
}

func (o *output) Write(p []byte) (int, error) {
	n := len(p)
	if int64(n) > o.left+1 {
		p = p[:max(0, o.left+1)]
	}
	if len(p) > 0 {
		o.left -= int64(len(p))
		if err := o.w.Write(o.kind, p); err != nil {
			return 0, err
		}
	}
	return n, nil
}

// input asks for what a module reads when it reads.
type input struct {
	w    *frame.Writer
	r    *frame.Reader
	rest []byte
	end  bool
}

func (i *input) Read(p []byte) (int, error) {
	if len(i.rest) == 0 && !i.end {
		if err := i.w.Write(frame.Need, nil); err != nil {
			return 0, err
		}
		kind, body, err := i.r.Read()
		if err != nil {
			return 0, err
		}
		if kind != frame.In {
			return 0, fmt.Errorf("a frame of kind %q where input was expected", rune(kind))
		}
		// The body is good until the next read, which is after its end.
		i.rest, i.end = body, len(body) == 0
	}
	if i.end {
		return 0, io.EOF
	}
	n := copy(p, i.rest)
	i.rest = i.rest[n:]
	return n, nil
}

// attached runs the module once on the streams of the process.
func attached(c Config) (int, error) {
	ctx := context.Background()
	m, err := load(ctx, c)
	if err == nil {
		err = m.open(ctx, c.Mounts)
	}
	if err != nil {
		return codeRunner, err
	}
	report := m.run(ctx, c.Run, streams{os.Stdin, os.Stdout, os.Stderr})
	if report.Error != "" {
		return report.Code, errors.New(report.Error)
	}
	return report.Code, nil
}

// compile fills an empty cache and sends the one file that is in it then.
func compile(c Config, out io.Writer) (int, error) {
	w := frame.NewWriter(out)
	name, err := compileTo(c, w)
	done := Compiled{File: name}
	if err != nil {
		done.Error = err.Error()
	}
	if err := w.WriteJSON(frame.Done, done); err != nil {
		return codeRunner, err
	}
	return 0, nil
}

func compileTo(c Config, w *frame.Writer) (string, error) {
	if err := os.MkdirAll(c.Cache, 0o700); err != nil {
		return "", err
	}
	if _, err := load(context.Background(), c); err != nil {
		return "", err
	}
	files, err := filepath.Glob(filepath.Join(c.Cache, "*", "*"))
	if err != nil || len(files) != 1 {
		return "", fmt.Errorf("the cache holds %d files after compilation, not 1", len(files))
	}
	file, err := os.Open(files[0])
	if err != nil {
		return "", err
	}
	defer file.Close()
	if _, err := io.CopyBuffer(&output{w: w, kind: frame.Out, left: 1 << 62}, file, make([]byte, frame.MaxBody)); err != nil {
		return "", err
	}
	return path.Join(filepath.Base(filepath.Dir(files[0])), filepath.Base(files[0])), nil
}
