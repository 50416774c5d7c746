package keyring

import "bytes"

// ReadSecretFile reads a secret of another system, such as a token, from a
// file that its owner alone can read, without the white space around it. The
// errors are those of ReadSigningKey; they name the file and nothing of what
// it holds.
func ReadSecretFile(path string) ([]byte, error) {
	text, err := readKeyFile(path, 0o077, "others can read it; run: chmod 600 "+path)
	if err != nil {
		return nil, err
	}
	if text = bytes.TrimSpace(text); len(text) == 0 {
		return nil, badKey(path, "is empty")
	}
	return text, nil
}
