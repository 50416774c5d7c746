package service

import (
	"context"
	"errors"
	"net/http"
	"path/filepath"
	"sync"
	"time"

	"github.com/toolwarrant/toolwarrant/approval/webhook"
	"github.com/toolwarrant/toolwarrant/audit/sink"
	"github.com/toolwarrant/toolwarrant/audit/sink/remote"
	"github.com/toolwarrant/toolwarrant/config"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/internal/standardhook"
)

// noticeEvery is how often the outbox is looked at when nothing happens.
const noticeEvery = 2 * time.Second

// ApprovalWebhooks starts telling another system of questions to humans, where
// the configuration names one, and gives what serves the answers that come
// back; nil where nobody may answer that way. It is for processes that serve.
// A mistake in the configuration is USAGE; another system that does not answer
// is none, and no call ever waits for it.
func (s *Service) ApprovalWebhooks(version string) (callback http.Handler, err error) {
	if err := s.tellOfApprovals(version); err != nil {
		return nil, err
	}
	return s.approvalCallback()
}

// secretsOf reads the secrets of a file, to find a mistake at the start.
func secretsOf(file string) ([][]byte, error) {
	keys, err := standardhook.Secrets(file)
	if f := (*fault.Error)(nil); err == nil || errors.As(err, &f) {
		return keys, err
	}
	return nil, fault.New(fault.Usage, "webhook-secret", "%v", err)
}

func (s *Service) tellOfApprovals(version string) error {
	c := s.Config.Approvals.Webhook
	if c.URL == "" {
		if c != (config.ApprovalWebhook{TimeoutSeconds: c.TimeoutSeconds}) {
			return fault.New(fault.Usage, "webhook-keys", "approvals.webhook has settings and no url: nobody would be told of anything; set the url, or take them away")
		}
		return nil
	}
	if c.SecretFile == "" {
		return fault.New(fault.Usage, "webhook-keys", "approvals.webhook lacks secret-file: its receiver could not tell a notice from a forged one")
	}
	if _, err := secretsOf(c.SecretFile); err != nil {
		return err
	}
	client, err := remote.NewClient(remote.HTTP{
		URL: c.URL, TLS: remote.TLS{CAFile: c.CAFile, ServerName: c.ServerName, CertFile: c.CertFile, KeyFile: c.KeyFile},
		HeaderFile: c.HeaderFile, UserAgent: userAgent(version),
	})
	if err != nil {
		return err
	}
	outbox, err := webhook.OpenOutbox(filepath.Join(s.Home, "approvals-webhook"), poster(client, c), s.noticeTrouble())
	if err != nil {
		return fault.New(fault.Usage, "webhook-folder", "%v", err).Because(err)
	}
	s.beside.Go(func() {
		defer client.Close()
		s.runOutbox(s.background, outbox)
	})
	return nil
}

// poster signs and sends one notice.
func poster(client *remote.Client, c config.ApprovalWebhook) webhook.Poster {
	return func(ctx context.Context, id string, body []byte) error {
		keys, err := standardhook.Secrets(c.SecretFile)
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(ctx, time.Duration(c.TimeoutSeconds)*time.Second)
		defer cancel()
		header := standardhook.Header(keys, id, time.Now(), body)
		header.Set("Content-Type", "application/json")
		_, err = client.Post(ctx, body, header)
		later, large := (*sink.Later)(nil), (*sink.TooLarge)(nil)
		switch {
		case errors.As(err, &later):
			return &webhook.Later{After: later.After, Err: err}
		case errors.As(err, &large):
			return &webhook.Never{Err: err}
		}
		return err
	}
}

// noticeTrouble logs what goes wrong, and not the same thing twice in a row.
func (s *Service) noticeTrouble() func(string, error) {
	var mu sync.Mutex
	last := ""
	return func(msg string, err error) {
		text := msg
		if err != nil {
			text += err.Error()
		}
		mu.Lock()
		again := text == last
		last = text
		mu.Unlock()
		if !again {
			s.logger.Warn().Err(err).Msg(msg)
		}
	}
}

// runOutbox sends until ctx ends. The store says what there is to send, the
// events only when to look.
func (s *Service) runOutbox(ctx context.Context, o *webhook.Outbox) {
	failed := logOnce(func(err error) {
		s.logger.Warn().Err(err).Msg("some approvals cannot be read; the webhook is not told of those")
	})
	for ctx.Err() == nil {
		following, stop := context.WithCancel(ctx)
		events := s.ApprovalEvents(following)
		for open := true; open && ctx.Err() == nil; {
			all, err := s.Approvals.List(ctx)
			if err != nil && ctx.Err() == nil {
				failed(err)
			}
			pause := min(max(o.Round(ctx, all), 0), noticeEvery)
			if pause == 0 {
				pause = noticeEvery
			}
			timer := time.NewTimer(pause)
			select {
			case <-ctx.Done():
			case <-timer.C:
			case _, open = <-events:
				for open && len(events) > 0 { // one look serves them all
					_, open = <-events
				}
			}
			timer.Stop()
		}
		stop()
	}
}
