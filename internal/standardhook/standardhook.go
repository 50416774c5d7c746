// Package standardhook signs and verifies messages as the Standard Webhooks
// specification says (https://www.standardwebhooks.com), both ways:
//
//	webhook-id: the same for the same message, however often it is sent
//	webhook-timestamp: seconds since 1970 of this attempt
//	webhook-signature: v1,<base64 of HMAC-SHA-256 over "id.timestamp.body">
//
// A message is bound to its time, so that one which was overheard is of use
// for minutes; that it is taken only once is for the receiver, by its id.
package standardhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/toolwarrant/toolwarrant/keyring"
)

const (
	// Prefix is how secrets of the specification begin.
	Prefix = "whsec_"
	// MinSecret is the least size of a secret, in bytes, that the specification
	// allows.
	MinSecret = 24
	// Tolerance is how far the time of a message may be from the receiver's.
	Tolerance = 5 * time.Minute

	headerID        = "Webhook-Id"
	headerTimestamp = "Webhook-Timestamp"
	headerSignature = "Webhook-Signature"

	maxID         = 256
	maxSignatures = 16
)

// Why a message is not taken.
var (
	ErrUnsigned  = errors.New("the message has no signature")
	ErrSignature = errors.New("the signature is not genuine")
	ErrStale     = errors.New("the time of the message is too far from now")
)

// Secrets reads the secrets of a file that its owner alone can read: whsec_
// and the base64 of a key in each line. Of several each signs, and each
// verifies, so that one can be replaced while both sides know both. The errors
// name the file and nothing of what it holds.
func Secrets(file string) ([][]byte, error) {
	text, err := keyring.ReadSecretFile(file)
	if err != nil {
		return nil, err
	}
	var keys [][]byte
	for line := range strings.Lines(string(text)) {
		coded, ok := strings.CutPrefix(strings.TrimSpace(line), Prefix)
		key, err := base64.StdEncoding.DecodeString(coded)
		if !ok || err != nil || len(key) < MinSecret {
			return nil, fmt.Errorf("the secret of the webhook in %s is not %s and the base64 of at least %d bytes", file, Prefix, MinSecret)
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// Header is what goes with a message at a time.
func Header(keys [][]byte, id string, at time.Time, body []byte) http.Header {
	stamp := strconv.FormatInt(at.Unix(), 10)
	h := http.Header{}
	h.Set(headerID, id)
	h.Set(headerTimestamp, stamp)
	h.Set(headerSignature, Sign(keys, id, stamp, body))
	return h
}

// Sign gives one signature for each key, separated by spaces.
func Sign(keys [][]byte, id, at string, body []byte) string {
	list := make([]string, len(keys))
	for i, key := range keys {
		list[i] = "v1," + base64.StdEncoding.EncodeToString(sum(key, id, at, body))
	}
	return strings.Join(list, " ")
}

func sum(key []byte, id, at string, body []byte) []byte {
	m := hmac.New(sha256.New, key)
	m.Write([]byte(id + "." + at + "."))
	m.Write(body)
	return m.Sum(nil)
}

// Announced reports what is wrong with a message by its headers alone: what
// comes without them, or at the wrong time, need not be read. It says nothing
// of whether the message is genuine.
func Announced(h http.Header, now time.Time) error {
	_, _, err := announced(h, now)
	return err
}

func announced(h http.Header, now time.Time) (id, stamp string, err error) {
	for _, name := range []string{headerID, headerTimestamp, headerSignature} {
		if len(h.Values(name)) != 1 { // of two, somebody else may have looked at the other
			return "", "", ErrUnsigned
		}
	}
	id, stamp = h.Get(headerID), h.Get(headerTimestamp)
	// A dot in the id would let it reach into the time that is signed with it.
	if id == "" || len(id) > maxID || strings.ContainsAny(id, ". ") {
		return "", "", ErrUnsigned
	}
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil || strconv.FormatInt(seconds, 10) != stamp {
		return "", "", ErrUnsigned
	}
	if d := now.Sub(time.Unix(seconds, 0)); d > Tolerance || d < -Tolerance {
		return id, stamp, ErrStale
	}
	return id, stamp, nil
}

// Verify gives the id of a message that one of the keys signed within
// Tolerance of now. The error is one of those above.
func Verify(keys [][]byte, h http.Header, body []byte, now time.Time) (id string, err error) {
	id, stamp, stale := announced(h, now)
	if stale != nil && !errors.Is(stale, ErrStale) {
		return "", stale
	}
	genuine := false
	for i, signature := range strings.Fields(h.Get(headerSignature)) {
		if i == maxSignatures {
			break
		}
		coded, ok := strings.CutPrefix(signature, "v1,")
		got, err := base64.StdEncoding.DecodeString(coded)
		if !ok || err != nil {
			continue // of another version of the scheme
		}
		for _, key := range keys {
			if hmac.Equal(got, sum(key, id, stamp, body)) {
				genuine = true
			}
		}
	}
	if !genuine {
		return "", ErrSignature
	}
	if stale != nil {
		return "", stale
	}
	return id, nil
}
