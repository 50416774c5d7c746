// Package keyring holds every secret key of an installation and hands out
// purpose-separated ones. Nothing else in toolwarrant reads or makes a key.
// Any package may import it; it imports only fault and atomicfile.
//
// A master key never leaves this package: keys are derived from it with HKDF
// (RFC 5869), the purpose as info, so that one that leaks says nothing about
// the others. Its id is derived as well and may be published. The keyring
// lies in the home (Open), which the processes of one installation share.
//
// The keys of policy bundles are apart from that: pairs that an operator makes
// (ReadSigningKey, ReadVerifyKey). A key that is derived here would not do,
// since every installation that can check with it could sign with it too.
//
// Whoever can read the file or the memory of the process has all keys. What
// is guarded against is accident: a file that others can read is refused, a
// damaged one is never replaced by a new one, and of processes that start at
// once all use the same key.
package keyring

// Purpose separates the uses of one master key; keys of two purposes are
// independent (HKDF-SHA-256, RFC 5869, with the purpose as info).
type Purpose string

// The purposes in use. New ones are added, existing ones keep their text,
// since it enters the derivation.
const (
	ParamsDigest    Purpose = "toolwarrant/params-digest/1"
	RequestState    Purpose = "toolwarrant/request-state/1"
	ParamValue      Purpose = "toolwarrant/param-value/1"
	ApprovalContent Purpose = "toolwarrant/approval-content/1"
)

// Key is one derived key. Bytes has 32 bytes and must not be changed or kept
// longer than the use.
type Key struct {
	ID    string // names the master key; safe to publish
	Bytes []byte
}

// Keyring gives keys by purpose. Implementations are safe for concurrent use.
type Keyring interface {
	// Current is the key to make new things with.
	Current(p Purpose) (Key, error)
	// Lookup is the key that an existing thing names; ok is false when that
	// master key is neither the current nor the previous one.
	Lookup(p Purpose, id string) (key Key, ok bool, err error)
}
