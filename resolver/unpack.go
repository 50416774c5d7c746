package resolver

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path"
	"strings"

	"github.com/toolwarrant/toolwarrant/fault"
)

// Bounds of a bundle, packed and unpacked. The settings stand in it twice, as
// data and as text, and texts grow where JSON escapes them.
const (
	MaxBundleBytes   = 8 << 20
	maxUnpackedBytes = 3 * maxPolicyBytes
)

// Files of a bundle beside the modules under rego.
const (
	dataFile       = "data.json"
	manifestFile   = ".manifest"
	signaturesFile = ".signatures.json"
)

// readBundleFile reads the file of a bundle, which is bounded.
func readBundleFile(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, bundleFault("policy-missing", "the policy %s cannot be read", file).Because(err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err == nil && !st.Mode().IsRegular() {
		err = errors.New("not a regular file")
	}
	if err != nil {
		return nil, bundleFault("policy-missing", "the policy %s is neither a folder nor a bundle", file).Because(err)
	}
	raw, err := io.ReadAll(io.LimitReader(f, MaxBundleBytes+1))
	if err != nil {
		return nil, bundleFault("policy-missing", "the policy %s cannot be read", file).Because(err)
	}
	return raw, nil
}

// unpack gives the files of a bundle. It comes before OPA's reader, which
// bounds each file but not their sum, passes over what it does not know, and
// takes the later of two files of one name: here the whole is bounded, and
// what has no place in a policy is refused.
func unpack(raw []byte) (map[string][]byte, error) {
	if len(raw) > MaxBundleBytes {
		return nil, bundleFault("bundle-too-large", "it has more than %d MiB", MaxBundleBytes>>20)
	}
	packed := bytes.NewReader(raw)
	gz, err := gzip.NewReader(packed)
	if err != nil {
		return nil, broken(err)
	}
	gz.Multistream(false)
	unpacked := &io.LimitedReader{R: gz, N: maxUnpackedBytes + 1}
	fail := func(err error) (map[string][]byte, error) {
		if unpacked.N <= 0 {
			return nil, bundleFault("bundle-too-large", "it unpacks to more than %d MiB", maxUnpackedBytes>>20)
		}
		var f *fault.Error
		if errors.As(err, &f) {
			return nil, f
		}
		return nil, broken(err)
	}
	files, size := map[string][]byte{}, int64(0)
	for archive := tar.NewReader(unpacked); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fail(err)
		}
		name, err := memberName(h)
		if err != nil {
			return fail(err)
		}
		if _, twice := files[name]; twice {
			return fail(bundleFault("bundle-member", "it holds %s twice", name))
		}
		if len(files) >= maxPolicyFiles {
			return fail(bundleFault("bundle-too-large", "it holds more than %d files", maxPolicyFiles))
		}
		// A sparse file has more than the archive holds of it.
		if h.Size > maxUnpackedBytes-size {
			return fail(bundleFault("bundle-too-large", "it unpacks to more than %d MiB", maxUnpackedBytes>>20))
		}
		size += h.Size
		if files[name], err = io.ReadAll(archive); err != nil {
			return fail(err)
		}
	}
	// Nothing may hide behind the end of the archive.
	rest, err := io.ReadAll(unpacked)
	if err != nil || unpacked.N <= 0 {
		return fail(err)
	}
	if len(bytes.Trim(rest, "\x00")) > 0 || packed.Len() > 0 {
		return fail(bundleFault("bundle-member", "something follows the end of the archive"))
	}
	return files, nil
}

func broken(err error) *fault.Error {
	return bundleFault("bundle-unreadable", "it is damaged, or no .tar.gz file").Because(err)
}

// memberName checks what an archive says of a file, and gives its path.
func memberName(h *tar.Header) (string, error) {
	name := strings.TrimPrefix(h.Name, "/")
	switch {
	case h.Typeflag != tar.TypeReg:
		return "", bundleFault("bundle-member", "%q in it is not a file", h.Name)
	case name == "" || path.Clean("/"+name) != "/"+name || strings.ContainsAny(name, "\\\x00"):
		return "", bundleFault("bundle-member", "%q in it is not a path below the bundle", h.Name)
	case name == dataFile, name == manifestFile, name == signaturesFile:
	case strings.HasPrefix(name, "rego/") && path.Ext(name) == ".rego" && !strings.HasSuffix(name, "_test.rego"):
	default:
		return "", bundleFault("bundle-member",
			"%q in it has no place in a policy bundle; \"toolwarrant policy bundle\" makes one of a policy folder", h.Name)
	}
	return name, nil
}
