package keyring

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"io"
	"io/fs"
	"os"
	"runtime"

	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/internal/handed"
)

// minRSABits is the shortest RSA key that is used.
const minRSABits = 2048

// SigningKey is the private key that signs policy bundles. It comes from a
// file of its own and not from the keyring: what signs stays with whoever
// releases a policy, and the installations that check it have no secret.
type SigningKey struct {
	VerifyKey
	Signer crypto.Signer
	// Private is the key as a PKCS #8 PEM block, for OPA, which signs with it.
	Private string
}

// VerifyKey is a public key that bundles are checked with.
type VerifyKey struct {
	ID        string // names the key: the begin of the digest of its bytes
	Algorithm string // of JSON Web Signatures: ES256, ES384, ES512 or RS256
	Public    string // PKIX PEM block
}

// ReadSigningKey reads a private key, EC or RSA, from a PEM file that its
// owner alone can read. The error is USAGE, reason "key-unreadable",
// "key-permissions" or "key-unusable".
func ReadSigningKey(path string) (*SigningKey, error) {
	block, err := readPEM(path, 0o077, "others can read it; run: chmod 600 "+path, "PRIVATE KEY", "EC PRIVATE KEY", "RSA PRIVATE KEY")
	if err != nil {
		return nil, err
	}
	var key any
	switch block.Type {
	case "EC PRIVATE KEY":
		key, err = x509.ParseECPrivateKey(block.Bytes)
	case "RSA PRIVATE KEY":
		key, err = x509.ParsePKCS1PrivateKey(block.Bytes)
	default:
		key, err = x509.ParsePKCS8PrivateKey(block.Bytes)
	}
	signer, ok := key.(crypto.Signer)
	if err != nil || !ok {
		return nil, badKey(path, "holds no private key that can be read").Because(err)
	}
	public, err := verifyKey(path, signer.Public())
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, badKey(path, "holds no private key that can be used").Because(err)
	}
	private := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
	return &SigningKey{VerifyKey: *public, Signer: signer, Private: string(private)}, nil
}

// ReadVerifyKey reads a public key, EC or RSA, from a PEM file that nobody
// but its owner can change. The errors are those of ReadSigningKey.
func ReadVerifyKey(path string) (*VerifyKey, error) {
	block, err := readPEM(path, 0o022, "others can replace it; run: chmod go-w "+path, "PUBLIC KEY", "RSA PUBLIC KEY")
	if err != nil {
		return nil, err
	}
	var key any
	if block.Type == "RSA PUBLIC KEY" {
		key, err = x509.ParsePKCS1PublicKey(block.Bytes)
	} else {
		key, err = x509.ParsePKIXPublicKey(block.Bytes)
	}
	if err != nil {
		return nil, badKey(path, "holds no public key that can be read").Because(err)
	}
	return verifyKey(path, key)
}

func verifyKey(path string, public any) (*VerifyKey, error) {
	k := &VerifyKey{}
	switch key := public.(type) {
	case *ecdsa.PublicKey:
		k.Algorithm = map[int]string{256: "ES256", 384: "ES384", 521: "ES512"}[key.Curve.Params().BitSize]
	case *rsa.PublicKey:
		if key.N.BitLen() < minRSABits {
			return nil, badKey(path, "is an RSA key of %d bits; use one of at least %d", key.N.BitLen(), minRSABits)
		}
		k.Algorithm = "RS256"
	}
	if k.Algorithm == "" {
		return nil, badKey(path, "is a %T; bundles are signed with EC keys (P-256, P-384, P-521) and RSA keys", public)
	}
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		return nil, badKey(path, "holds no public key that can be used").Because(err)
	}
	sum := sha256.Sum256(der)
	k.ID = hex.EncodeToString(sum[:8])
	k.Public = string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
	return k, nil
}

// readPEM gives the first block of a wanted type. A file whose mode has a bit
// of tooOpen is refused.
func readPEM(path string, tooOpen os.FileMode, why string, types ...string) (*pem.Block, error) {
	rest, err := readKeyFile(path, tooOpen, why)
	if err != nil {
		return nil, err
	}
	for {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			return nil, badKey(path, "has no PEM block of type %s", types[0])
		}
		for _, t := range types {
			if block.Type == t {
				return block, nil
			}
		}
	}
}

// readKeyFile gives the content of a key file.
func readKeyFile(path string, tooOpen os.FileMode, why string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fault.New(fault.Usage, "key-unreadable", "the key %s cannot be read: %v", path, cause(err)).Because(err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err == nil && !st.Mode().IsRegular() {
		err = errors.New("not a regular file")
	}
	if err != nil {
		return nil, fault.New(fault.Usage, "key-unreadable", "the key %s cannot be read: %v", path, cause(err)).Because(err)
	}
	if runtime.GOOS != "windows" && st.Mode().Perm()&tooOpen != 0 && !handed.BySystemd(path, st.Mode()) {
		return nil, fault.New(fault.Usage, "key-permissions", "the key %s has mode %04o, so %s", path, st.Mode().Perm(), why)
	}
	content, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return nil, fault.New(fault.Usage, "key-unreadable", "the key %s cannot be read: %v", path, cause(err)).Because(err)
	}
	return content, nil
}

// cause is what is wrong with a file, without its path.
func cause(err error) error {
	if pathErr := (*fs.PathError)(nil); errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
}

func badKey(path, format string, args ...any) *fault.Error {
	e := fault.New(fault.Usage, "key-unusable", format, args...)
	e.Message = "the key " + path + " " + e.Message
	return e
}
