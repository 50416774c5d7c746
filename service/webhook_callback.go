package service

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/time/rate"

	"github.com/toolwarrant/toolwarrant/approval"
	"github.com/toolwarrant/toolwarrant/approval/webhook"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/internal/standardhook"
)

const (
	// callbackMethod is how an approver is said to be known who answers through
	// the callback: another system vouches for them.
	callbackMethod = "webhook"
	maxCallback    = 1 << 20
	maxApprover    = 256
	// refusalsPerSecond bounds the records of messages that are not genuine.
	refusalsPerSecond = 10
	// maxReading is how many answers are read at one time: nobody knows who sends
	// one until it is read.
	maxReading = 16
)

// callback takes signed answers. The signature says that they come from the
// one system that the operator named; that one vouches for its people.
type callback struct {
	s       *Service
	secret  string // file
	groups  []string
	nonces  *webhook.Nonces
	now     func() time.Time
	records *rate.Limiter
	reading readings
}

// callbackBody is an answer.
type callbackBody struct {
	ApprovalID string `json:"approvalId"`
	Action     string `json:"action"` // accept, decline
	Approver   struct {
		Subject string   `json:"subject"`
		Groups  []string `json:"groups"`
	} `json:"approver"`
	// Args, with accept, takes the place of the caller's arguments.
	Args json.RawMessage `json:"args"`
}

// approvalCallback gives the handler; nil where nobody may answer that way.
func (s *Service) approvalCallback() (http.Handler, error) {
	c := s.Config.Approvals.Callback
	if c.SecretFile == "" {
		if len(c.Groups) > 0 {
			return nil, fault.New(fault.Usage, "webhook-keys", "approvals.callback has groups and no secret-file: nobody could answer; set it, or take the groups away")
		}
		return nil, nil
	}
	if _, err := secretsOf(c.SecretFile); err != nil {
		return nil, err
	}
	nonces, err := webhook.OpenNonces(filepath.Join(s.Home, "approvals-callback"), 3*standardhook.Tolerance)
	if err != nil {
		return nil, fault.New(fault.Usage, "webhook-folder", "%v", err).Because(err)
	}
	return &callback{s: s, secret: c.SecretFile, groups: c.Groups, nonces: nonces, now: time.Now, records: rate.NewLimiter(refusalsPerSecond, refusalsPerSecond)}, nil
}

// ServeHTTP implements http.Handler.
func (c *callback) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p, status, err := c.serve(w, r)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	if err != nil {
		f := fault.From(err)
		if f.Code == fault.Internal {
			c.s.logger.Error().Err(err).Msg("an answer to an approval could not be taken")
		}
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(map[string]any{"error": f})
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"approvalId": p.ID, "state": p.State, "promptDigest": p.Shown().PromptDigest})
}

func (c *callback) serve(w http.ResponseWriter, r *http.Request) (p approval.Pending, status int, err error) {
	none := approval.Pending{}
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		return none, http.StatusMethodNotAllowed, fault.New(fault.Usage, "method", "an answer is sent with POST")
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return none, http.StatusUnsupportedMediaType, fault.New(fault.Usage, "content-type", "an answer is application/json")
	}
	if err := standardhook.Announced(r.Header, c.now()); err != nil {
		err = c.refuse(r.Context(), err)
		return none, statusOf(fault.From(err)), err
	}
	body, status, err := c.body(w, r)
	if err != nil {
		return none, status, err
	}
	keys, err := secretsOf(c.secret)
	if err != nil {
		return none, http.StatusServiceUnavailable, fault.New(fault.Internal, "webhook-secret", "the secret of the callback cannot be read; the server's log says more").Because(err)
	}
	id, err := standardhook.Verify(keys, r.Header, body, c.now())
	if err == nil {
		err = c.nonces.Take(id)
	}
	if err != nil {
		err = c.refuse(r.Context(), err)
		return none, statusOf(fault.From(err)), err
	}
	p, err = c.answer(r.Context(), body)
	if err == nil {
		return p, http.StatusOK, nil
	}
	status = statusOf(fault.From(err))
	if status >= http.StatusInternalServerError { // the sender may try the same again
		err = errors.Join(err, c.nonces.GiveBack(id))
	}
	return none, status, fault.From(err)
}

// body reads an answer. It comes at once from who has one to give.
func (c *callback) body(w http.ResponseWriter, r *http.Request) (body []byte, status int, err error) {
	defer c.reading.begin(w)()
	body, err = io.ReadAll(io.LimitReader(r.Body, maxCallback+1))
	if len(body) > maxCallback {
		// Who is still sending would get a reset, and not the answer.
		_, _ = io.CopyN(io.Discard, r.Body, 4*maxCallback)
		return nil, http.StatusRequestEntityTooLarge, fault.New(fault.Usage, "too-large", "an answer has at most %d bytes", maxCallback)
	} else if err != nil {
		return nil, http.StatusBadRequest, fault.New(fault.Usage, "unreadable", "the answer could not be read to its end in its time")
	}
	return body, http.StatusOK, nil
}

// refuse puts a message on record that is not genuine, at most so many in a
// second. The sender is told that it is refused, and not how near it came.
func (c *callback) refuse(ctx context.Context, cause error) error {
	reason := map[error]string{
		standardhook.ErrUnsigned: "unsigned", standardhook.ErrSignature: "signature", standardhook.ErrStale: "stale", webhook.ErrReplayed: "replayed",
	}[cause]
	if reason == "" {
		return fault.New(fault.Internal, "webhook-nonces", "whether the message is new cannot be told; the server's log says more").Because(cause)
	}
	if c.records.Allow() {
		who := decision.Principal{Subject: "unknown", Method: callbackMethod, Groups: []string{}, Scopes: []string{}}
		if err := c.s.event(ctx, "approval.callback-refuse", who, map[string]any{"reason": reason}); err != nil {
			return err
		}
	}
	return fault.New(fault.Unauthenticated, "webhook-signature", "the message is not signed as it has to be, is too old, or was taken already")
}

// answer gives the one answer that a genuine message holds.
func (c *callback) answer(ctx context.Context, raw []byte) (approval.Pending, error) {
	var b callbackBody
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	// A member that comes twice would be read by another reader otherwise.
	if err := dec.Decode(&b); err != nil || !jsontext.Value(raw).IsValid() {
		return approval.Pending{}, fault.New(fault.Usage, "answer", `the answer is not {"approvalId", "action", "approver": {"subject", "groups"}, "args"}`)
	}
	if string(b.Args) == "null" {
		b.Args = nil
	}
	who := decision.Principal{Subject: strings.TrimSpace(b.Approver.Subject), Method: callbackMethod, ClientID: "approvals-callback", Groups: []string{}, Scopes: []string{}}
	if who.Subject == "" || who.Subject != b.Approver.Subject || len(who.Subject) > maxApprover {
		return approval.Pending{}, fault.New(fault.Usage, "answer", "the answer does not name its approver: approver.subject is a text of at most %d bytes", maxApprover)
	}
	for _, g := range b.Approver.Groups {
		if slices.Contains(c.groups, g) {
			who.Groups = append(who.Groups, g)
		}
	}
	switch {
	case b.Action == "accept" && b.Args != nil:
		return c.s.Modify(ctx, who, b.ApprovalID, b.Args)
	case b.Action == "accept":
		return c.s.Answer(ctx, who, b.ApprovalID, approval.ActionAccept)
	case b.Action == "decline" && b.Args == nil:
		return c.s.Answer(ctx, who, b.ApprovalID, approval.ActionDecline)
	}
	return approval.Pending{}, fault.New(fault.Usage, "answer", `the action of an answer is "accept" or "decline", and only the first has args`)
}

// statusOf is the HTTP status of a refusal.
func statusOf(f *fault.Error) int {
	switch f.Code {
	case fault.Unauthenticated:
		return http.StatusUnauthorized
	case fault.Usage, fault.InvalidArguments:
		return http.StatusBadRequest
	case fault.NotFound, fault.NotActive:
		return http.StatusNotFound
	case fault.PolicyDenied, fault.ResolverReject:
		return http.StatusForbidden
	case fault.ApprovalDenied:
		if f.Reason == "not-approver" {
			return http.StatusForbidden
		}
		return http.StatusConflict
	case fault.AuditUnavailable, fault.PolicyUnavailable:
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}
