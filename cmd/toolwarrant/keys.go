package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolwarrant/toolwarrant/executor/mask"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/keyring/apikey"
)

func (a *app) keysCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "keys",
		Short: "Make, list and revoke API keys; rotate the keyring",
		Long: `API keys are for programs that call over HTTP and cannot log in anywhere. A
server takes them where auth.api-keys is true; what is made or revoked here
counts at its next request.`,
		Example: `  toolwarrant keys create ci-agent --group ci --expires 90d
  toolwarrant keys list
  toolwarrant keys revoke ci-agent`,
		Args: cobra.NoArgs,
		RunE: needsVerb,
	}
	c.AddCommand(a.keysCreateCmd(), a.keysListCmd(), a.keysRevokeCmd(), a.keysRotateCmd())
	return c
}

func (a *app) keysCreateCmd() *cobra.Command {
	var w apikey.Wanted
	var expires string
	c := &cobra.Command{
		Use:   "create NAME",
		Short: "Make an API key and print its token, this once",
		Long: `Make an API key and print its token. The token is kept nowhere: who loses it
revokes the key and makes another one. What the key stands for (its name,
subject, groups, scopes and expiry) cannot be changed later either.

Its caller has the subject, groups and scopes that are given here, and the
client id tw_<id>. Policy decides what that may do.`,
		Example: `  toolwarrant keys create ci-agent
  toolwarrant keys create nightly --subject batch --group finance --scope tools:call --expires 90d`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			w.Name = args[0]
			if expires != "" {
				var err error
				if w.Expires, err = lifetime(expires); err != nil {
					return err
				}
			}
			s, err := a.open(c.Context(), nil)
			if err != nil {
				return err
			}
			defer s.Close(c.Context())
			token, e, err := s.CreateKey(c.Context(), principal(), w)
			if err != nil {
				return err
			}
			if a.format == "json" {
				a.json(map[string]any{"token": token, "key": shownKey(e, time.Now())})
				return nil
			}
			fmt.Fprintf(a.std.err, "key %s of %s, %s. The token is shown this once:\n", e.ID, mask.Visible(e.Subject), until(e))
			a.printf("%s\n", token)
			return nil
		},
	}
	c.Flags().StringVar(&w.Subject, "subject", "", "who its caller is (default NAME)")
	c.Flags().StringArrayVar(&w.Groups, "group", nil, "a group of its caller; may be repeated")
	c.Flags().StringArrayVar(&w.Scopes, "scope", nil, "a scope of its caller; may be repeated")
	c.Flags().StringVar(&expires, "expires", "", `how long it is good, such as 90d, 12h or 30m (default: until it is revoked)`)
	a.formats(c, "text", "json")
	return c
}

// lifetime reads how long a key is good: what time.ParseDuration takes, or
// whole days.
func lifetime(s string) (time.Duration, error) {
	bad := fault.New(fault.Usage, "expires", "%q is no time that a key can be good for; say 90d, 12h or 30m, at most 3650d", s)
	var d time.Duration
	if days, ok := strings.CutSuffix(s, "d"); ok {
		n, err := strconv.Atoi(days)
		if err != nil || n < 0 || n > 3650 {
			return 0, bad
		}
		d = time.Duration(n) * 24 * time.Hour
	} else {
		var err error
		if d, err = time.ParseDuration(s); err != nil {
			return 0, bad
		}
	}
	if d < time.Second || d > 3650*24*time.Hour {
		return 0, bad
	}
	return d, nil
}

func until(e apikey.Entry) string {
	if e.ExpiresAt == nil {
		return "good until it is revoked"
	}
	return "good until " + e.ExpiresAt.Format(time.RFC3339)
}

// shownKey is a key as it is listed. Its tag helps nobody and stays where it
// is.
func shownKey(e apikey.Entry, now time.Time) map[string]any {
	return map[string]any{
		"id": e.ID, "clientId": e.ClientID(), "name": e.Name, "subject": e.Subject, "groups": e.Groups, "scopes": e.Scopes,
		"createdAt": e.CreatedAt, "expiresAt": e.ExpiresAt, "revokedAt": e.RevokedAt, "state": e.State(now),
	}
}

func (a *app) keysListCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "list",
		Short: "List the API keys, the oldest first",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := a.open(c.Context(), nil)
			if err != nil {
				return err
			}
			defer s.Close(c.Context())
			keys, err := s.Keys()
			if err != nil {
				return err
			}
			now := time.Now()
			if a.format == "json" {
				shown := []map[string]any{}
				for _, e := range keys {
					shown = append(shown, shownKey(e, now))
				}
				a.json(map[string]any{"keys": shown})
				return nil
			}
			if len(keys) == 0 {
				a.printf("There is no API key.\n")
				return nil
			}
			table := newTable(a.std.out, "ID", "NAME", "SUBJECT", "GROUPS", "SCOPES", "STATE", "EXPIRES")
			for _, e := range keys {
				expires := "never"
				if e.ExpiresAt != nil {
					expires = e.ExpiresAt.Format(time.RFC3339)
				}
				_ = table.add(e.ID, e.Name, e.Subject, strings.Join(e.Groups, ","), strings.Join(e.Scopes, ","), string(e.State(now)), expires)
			}
			return table.flush()
		},
	}
	a.formats(c, "text", "json")
	return c
}

func (a *app) keysRevokeCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "revoke ID|NAME",
		Short: "End an API key; a server refuses it from its next request on",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := a.open(c.Context(), nil)
			if err != nil {
				return err
			}
			defer s.Close(c.Context())
			e, err := s.RevokeKey(c.Context(), principal(), args[0])
			if err != nil {
				return err
			}
			if a.format == "json" {
				a.json(map[string]any{"key": shownKey(e, time.Now())})
				return nil
			}
			a.printf("%s (%s): revoked at %s\n", e.ID, e.Name, e.RevokedAt.Format(time.RFC3339))
			return nil
		},
	}
	a.formats(c, "text", "json")
	return c
}

func (a *app) keysRotateCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "rotate",
		Short: "Add a master key to the keyring; the one before still counts",
		Long: `Add a master key to the keyring of this installation, from which the keys of
digests, approvals and checkpoints are derived. What was made with the key
before is still taken; a key older than that is removed, and what was made with
it no longer counts: questions that wait since then have to be asked again.

API keys are kept under their own secrets and are not affected.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := a.open(c.Context(), nil)
			if err != nil {
				return err
			}
			defer s.Close(c.Context())
			id, err := s.RotateKeyring(c.Context(), principal())
			if err != nil {
				return err
			}
			if a.format == "json" {
				a.json(map[string]any{"keyId": id})
				return nil
			}
			a.printf("the keyring has a new key, %s\n", id)
			return nil
		},
	}
	a.formats(c, "text", "json")
	return c
}
