package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/audit/checkpoint"
	"github.com/toolwarrant/toolwarrant/executor/mask"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/internal/plural"
	"github.com/toolwarrant/toolwarrant/keyring"
)

// signedFlags name checkpoints and the public key that they are held against.
type signedFlags struct {
	file, key string
	warn      func() io.Writer
}

func (f *signedFlags) add(c *cobra.Command) {
	f.warn = c.ErrOrStderr
	c.Flags().StringVar(&f.file, "checkpoints", "", "`FILE` of signed checkpoints of this log")
	c.Flags().StringVar(&f.key, "key", "", "`FILE` of the public key that they were signed for")
}

// read gives the checkpoints; none where no file is named and none is needed.
func (f *signedFlags) read(ctx context.Context, needed bool) ([]checkpoint.Signed, error) {
	switch {
	case f.file == "" && f.key == "" && !needed:
		return nil, nil
	case f.file == "":
		return nil, fault.New(fault.Usage, "checkpoints", "--checkpoints is missing: name the file that checkpoints were written to")
	case f.key == "":
		return nil, fault.New(fault.Usage, "key", "--key is missing: a checkpoint says nothing without the public key of who signed it")
	}
	key, err := keyring.ReadNoteVerifier(f.key)
	if err != nil {
		return nil, err
	}
	file, err := os.Open(f.file)
	if err != nil {
		return nil, fault.New(fault.Usage, "unreadable", "cannot read the checkpoints %s", f.file).Because(err)
	}
	defer file.Close()
	defer context.AfterFunc(ctx, func() { file.Close() })() // a pipe may have no end
	list, skipped, err := checkpoint.OpenAll(file, key)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	err = orNo(err, checkpoint.ReasonSignature)
	if err == nil && skipped.Count > 0 {
		fmt.Fprintf(f.warn(), "warning: %s of %s left out, no checkpoint of %s; the first one is at line %d: %s\n",
			plural.Of(skipped.Count, "part"), f.file, mask.Visible(key.Name()), skipped.Line, mask.Visible(fault.From(skipped.Err).Message))
	}
	if err == nil && len(list) == 0 {
		err = fault.New(fault.Usage, checkpoint.ReasonFormat, "there is no checkpoint in %s", f.file)
	}
	return list, err
}

func (a *app) auditKeygenCmd() *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "keygen NAME",
		Short: "Make the key that signs checkpoints of a log",
		Long: `Make an Ed25519 key. NAME says whose log it is, such as acme.example/audit, and
stands in each checkpoint. The private key is for the server
(audit.checkpoint.key) and best lies on no machine that keeps the log as well;
FILE.pub is for everybody who verifies.`,
		Example: "  toolwarrant audit keygen acme.example/audit -o audit.key",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if out == "" {
				return fault.New(fault.Usage, "o", "-o is missing: name the file of the private key")
			}
			public, err := keyring.GenerateNoteKey(out, args[0])
			if err != nil {
				return err
			}
			a.printf("%s\n", public)
			return nil
		},
	}
	c.Flags().StringVarP(&out, "output", "o", "", "`FILE` of the private key; the public one is FILE.pub")
	return c
}

func (a *app) auditCheckpointCmd() *cobra.Command {
	var sign, out string
	c := &cobra.Command{
		Use:   "checkpoint [FILE...]",
		Short: "Sign how long a log is, and what is in it",
		Long: `Verify a log and sign its length, its head and the root of the Merkle tree over
its lines (RFC 6962), as a signed note. Keep it where the log is not: with it,
"audit verify" finds that records were cut off, and "audit prove" proves a
record to somebody who does not have the log. A server makes checkpoints by
itself where the configuration names a key (audit.checkpoint). A log that is
not whole is not signed. Without FILE it is the log of this installation.`,
		Example: "  toolwarrant audit checkpoint audit.ndjson --sign audit.key -o checkpoints.txt",
		Args:    cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, named []string) error {
			if sign == "" {
				return fault.New(fault.Usage, "sign", "--sign is missing: name the private key; toolwarrant audit keygen makes one")
			}
			key, err := keyring.ReadNoteSigner(sign)
			if err != nil {
				return err
			}
			files, err := a.logFiles(named)
			if err != nil {
				return err
			}
			state, _, err := audit.State(c.Context(), files)
			if err != nil {
				return err
			}
			msg, err := checkpoint.Sign(state, key)
			if err != nil {
				return err
			}
			if out == "" {
				a.printf("%s", msg)
				return nil
			}
			if err := checkpoint.Append(out, msg, 0o644); err != nil {
				return fault.New(fault.Usage, "unwritable", "cannot append the checkpoint to %s", out).Because(err)
			}
			a.printf("signed: %s, head %s\n", plural.Of(state.Size, "record"), state.Head)
			return nil
		},
	}
	c.Flags().StringVar(&sign, "sign", "", "`FILE` of the private key")
	c.Flags().StringVarP(&out, "output", "o", "", "`FILE` that the checkpoint is appended to (default standard output)")
	return c
}

func (a *app) auditProveCmd() *cobra.Command {
	var signed signedFlags
	var out string
	c := &cobra.Command{
		Use:   "prove CALL-ID [FILE...]",
		Short: "Show the record of one call, with a proof that it is in the log",
		Long: `Write the close record of a call and the proof that it is in the log which a
checkpoint signed, as one JSON document. Whoever has the public key checks it
with "audit verify-proof", without the log and without the network, and learns
nothing of any other call. Exit status 1 says that there is no such record, that
every checkpoint is older, or that none is of this log or of this key. Without
FILE it is the log of this installation.`,
		Example: "  toolwarrant audit prove 01J9ZK3V7Q audit.ndjson --checkpoints checkpoints.txt --key audit.key.pub -o proof.json",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			list, err := signed.read(c.Context(), true)
			if err != nil {
				return err
			}
			files, err := a.logFiles(args[1:])
			if err != nil {
				return err
			}
			p, err := audit.Prove(c.Context(), files, args[0], list)
			if err != nil {
				return orNo(err, audit.ReasonNoRecord, audit.ReasonNoCheckpoint, audit.ReasonOtherLog)
			}
			doc, err := p.Encode()
			if err != nil {
				return err
			}
			if out == "" {
				a.printf("%s", doc)
				return nil
			}
			if err := os.WriteFile(out, doc, 0o600); err != nil {
				return fault.New(fault.Usage, "unwritable", "cannot write the proof %s", out).Because(err)
			}
			return nil
		},
	}
	signed.add(c)
	c.Flags().StringVarP(&out, "output", "o", "", "`FILE` of the proof (default standard output)")
	return c
}

// proven is what verify-proof answers where a machine reads it.
type proven struct {
	OK       bool            `json:"ok"`
	Log      string          `json:"log"`
	Seq      int64           `json:"seq"`
	Records  int64           `json:"records"`
	SignedAt string          `json:"signedAt"`
	Record   json.RawMessage `json:"record"`
}

// readProof reads no more than tells that a file is too large for a proof.
func readProof(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, checkpoint.MaxProof+1))
}

func (a *app) auditVerifyProofCmd() *cobra.Command {
	var keyFile string
	c := &cobra.Command{
		Use:   "verify-proof FILE",
		Short: "Check a proof of audit prove with the public key alone",
		Long: `Check that a record was in a log when its checkpoint was signed. Only the public
key is needed. Exit status: 0 it is proven, 1 the proof does not hold or its checkpoint is
not one that the key signed, 2 it cannot be read or is no proof.`,
		Example: "  toolwarrant audit verify-proof proof.json --key audit.key.pub",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if keyFile == "" {
				return fault.New(fault.Usage, "key", "--key is missing: name the public key of who signed the checkpoint")
			}
			key, err := keyring.ReadNoteVerifier(keyFile)
			if err != nil {
				return err
			}
			doc, err := readProof(args[0])
			if err != nil {
				return fault.New(fault.Usage, "unreadable", "cannot read the proof %s", args[0]).Because(err)
			}
			p, signed, err := checkpoint.OpenProof(doc, key)
			if err != nil {
				return orNo(err, checkpoint.ReasonSignature, checkpoint.ReasonProof)
			}
			at := signed.Time.Format("2006-01-02 15:04:05 UTC")
			if a.format == "json" {
				a.json(proven{OK: true, Log: signed.Origin, Seq: p.Index + 1, Records: signed.Size, SignedAt: at, Record: json.RawMessage(p.Record)})
				return nil
			}
			a.printf("proven: record %d of the log of %s, which had %s at %s\n%s\n",
				p.Index+1, mask.Visible(signed.Origin), plural.Of(signed.Size, "record"), at, mask.Visible(strings.TrimSpace(p.Record)))
			return nil
		},
	}
	c.Flags().StringVar(&keyFile, "key", "", "`FILE` of the public key")
	a.formats(c, "text", "json")
	return c
}
