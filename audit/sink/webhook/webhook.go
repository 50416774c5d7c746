// Package webhook is the audit sink that posts lines to a URL, signed as the
// Standard Webhooks specification says (https://www.standardwebhooks.com):
//
//	webhook-id: the same for the same lines, however often they are sent
//	webhook-timestamp: seconds since 1970 of this attempt
//	webhook-signature: v1,<base64 of HMAC-SHA-256 over "id.timestamp.body">
//
// The body is lines of the log, byte for byte, one in a line
// (application/x-ndjson). A receiver verifies the signature, refuses old
// timestamps, takes the lines for good and answers 2xx; what it has already
// it knows by seq and writer of the lines.
package webhook

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/audit/sink/remote"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/internal/standardhook"
)

// Sink posts batches. Safe for concurrent use.
type Sink struct {
	client *remote.Client
	secret string // file
	now    func() time.Time
}

var _ audit.Sink = (*Sink)(nil)

// New makes a sink. secretFile holds the secret, whsec_ and base64, readable
// by its owner alone; of several, one in a line, each signs, so that one can
// be replaced while the receiver knows both. It is read for each request.
// Errors are USAGE.
func New(to remote.HTTP, secretFile string) (*Sink, error) {
	client, err := remote.NewClient(to)
	if err != nil {
		return nil, err
	}
	s := &Sink{client: client, secret: secretFile, now: time.Now}
	if _, err := s.keys(); err != nil {
		return nil, err
	}
	return s, nil
}

// keys reads the secrets.
func (s *Sink) keys() ([][]byte, error) {
	keys, err := standardhook.Secrets(s.secret)
	var f *fault.Error
	if err == nil || errors.As(err, &f) {
		return keys, err
	}
	return nil, fault.New(fault.Usage, "sink-secret", "%v", err)
}

// Write posts a batch; nil means that the receiver answered 2xx.
func (s *Sink) Write(ctx context.Context, lines [][]byte, _ bool) error {
	keys, err := s.keys()
	if err != nil {
		return err
	}
	body := append(bytes.Join(lines, []byte("\n")), '\n')
	sum := sha256.Sum256(body)
	id := "msg_" + hex.EncodeToString(sum[:16])
	header := standardhook.Header(keys, id, s.now(), body)
	header.Set("Content-Type", "application/x-ndjson")
	_, err = s.client.Post(ctx, body, header)
	return err
}

// Close gives connections back.
func (s *Sink) Close() error {
	s.client.Close()
	return nil
}
