package wire

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
)

// A Program is one of classic BPF. Its form in a message is base64 of eight
// bytes for each instruction, in network order: as a list of objects it would
// be most of the time that a configuration takes.
type Program []Instruction

// An Instruction is one of classic BPF.
type Instruction struct {
	Op     uint16
	Jt, Jf uint8
	K      uint32
}

const instructionSize = 8

// MarshalText is the form in a message.
func (p Program) MarshalText() ([]byte, error) {
	raw := make([]byte, 0, len(p)*instructionSize)
	for _, in := range p {
		raw = binary.BigEndian.AppendUint16(raw, in.Op)
		raw = append(raw, in.Jt, in.Jf)
		raw = binary.BigEndian.AppendUint32(raw, in.K)
	}
	return base64.StdEncoding.AppendEncode(nil, raw), nil
}

// UnmarshalText reads what MarshalText writes.
func (p *Program) UnmarshalText(text []byte) error {
	raw, err := base64.StdEncoding.AppendDecode(nil, text)
	if err != nil {
		return err
	}
	if len(raw)%instructionSize != 0 {
		return errors.New("a program with half an instruction")
	}
	*p = make(Program, 0, len(raw)/instructionSize)
	for ; len(raw) > 0; raw = raw[instructionSize:] {
		*p = append(*p, Instruction{binary.BigEndian.Uint16(raw), raw[2], raw[3], binary.BigEndian.Uint32(raw[4:])})
	}
	return nil
}
