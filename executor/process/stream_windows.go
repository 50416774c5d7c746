package process

import (
	"errors"
	"io"
	"os"
	"os/exec"
)

// childDescriptors has no meaning here.
const childDescriptors = 0

type pipes struct {
	io.Reader
	io.Writer
	close func() error
}

func (p pipes) Close() error { return p.close() }

// stream makes two pipes, which are the worker's standard input and output.
func stream(c *exec.Cmd) (near io.ReadWriteCloser, far io.Closer, err error) {
	in, toChild, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	fromChild, out, err := os.Pipe()
	if err != nil {
		return nil, nil, errors.Join(err, in.Close(), toChild.Close())
	}
	c.Stdin, c.Stdout = in, out
	ours := pipes{fromChild, toChild, func() error { return errors.Join(toChild.Close(), fromChild.Close()) }}
	theirs := pipes{in, out, func() error { return errors.Join(in.Close(), out.Close()) }}
	return ours, theirs, nil
}

// childStream is the far end, as the worker has it.
func childStream() (io.ReadWriter, error) {
	return pipes{Reader: os.Stdin, Writer: os.Stdout, close: func() error { return nil }}, nil
}
