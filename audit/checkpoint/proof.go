package checkpoint

import (
	"bytes"
	"encoding/json"

	jsonv2 "github.com/go-json-experiment/json"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/toolwarrant/toolwarrant/fault"
)

// ProofSchema names the format of a Proof.
const ProofSchema = "toolwarrant.proof/1"

// ReasonProof is of a USAGE error: the record is not the one that was signed.
const ReasonProof = "proof-invalid"

// Proof shows one record and that it is in the log of a checkpoint.
type Proof struct {
	Schema     string      `json:"schema"`
	Record     string      `json:"record"`     // the line as it stands in the log, without its newline
	Index      int64       `json:"index"`      // of the line, from 0 on: one less than its seq
	Path       []tlog.Hash `json:"path"`       // from the leaf to the root, base64
	Checkpoint string      `json:"checkpoint"` // the signed note
}

// Encode writes the proof as one JSON document.
func (p Proof) Encode() ([]byte, error) {
	p.Schema = ProofSchema
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(p)
	return b.Bytes(), err
}

// MaxProof bounds a proof: a line of the log, escaped, and little else.
const MaxProof = 32 << 20

// OpenProof reads a proof, which has no other members and none twice, and checks it with the public key: it returns what
// was proven and the checkpoint that it was proven with.
func OpenProof(doc []byte, key note.Verifier) (Proof, Checkpoint, error) {
	var p Proof
	if len(doc) > MaxProof || jsonv2.Unmarshal(doc, &p, jsonv2.RejectUnknownMembers(true)) != nil || p.Schema != ProofSchema {
		return Proof{}, Checkpoint{}, fault.New(fault.Usage, ReasonFormat, "this is no proof of %s; toolwarrant audit prove writes one", ProofSchema)
	}
	c, err := Open([]byte(p.Checkpoint), key)
	if err != nil {
		return Proof{}, Checkpoint{}, err
	}
	if p.Index < 0 || p.Index >= c.Size ||
		tlog.CheckRecord(tlog.RecordProof(p.Path), c.Size, c.Root, p.Index, tlog.RecordHash([]byte(p.Record))) != nil {
		return Proof{}, Checkpoint{}, fault.New(fault.Usage, ReasonProof, "the record is not in the log that the checkpoint signed: it was altered, or the proof is of another one")
	}
	return p, c, nil
}
