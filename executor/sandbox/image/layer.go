package image

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// maxWindow is the memory that a compressed layer may ask for.
const maxWindow = 128 << 20

// unpackLayers puts the layers over each other into the empty folder dir.
func unpackLayers(ctx context.Context, l *layout, layers []descriptor, dir string, b Bounds) error {
	t, err := openTree(dir, b)
	if err != nil {
		return err
	}
	defer t.close()
	for i, d := range layers {
		if err := unpackLayer(ctx, l, d, t); err != nil {
			return fmt.Errorf("layer %d: %w", i, err)
		}
	}
	return t.finish()
}

func unpackLayer(ctx context.Context, l *layout, d descriptor, t *tree) error {
	name, err := blobPath(d)
	if err != nil {
		return err
	}
	f, size, err := l.open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if size != d.Size {
		return fmt.Errorf("the blob has %d bytes and not %d", size, d.Size)
	}
	blob := &blob{ctx: ctx, from: bufio.NewReaderSize(io.LimitReader(f, size), 1<<16), sum: sha256.New()}
	plain, err := decompress(d.MediaType, blob)
	if err != nil {
		return err
	}
	defer plain.Close()
	// What is neither the content nor the header of a file is bounded too.
	bounded := &io.LimitedReader{R: plain, N: t.bytesLeft + int64(t.filesLeft)*4096 + 1<<20}
	if err := t.apply(tar.NewReader(bounded)); err != nil {
		return err
	}
	// The digest is over all of the blob, also over what follows the archive.
	if _, err := io.Copy(io.Discard, bounded); err != nil {
		return err
	}
	if bounded.N <= 0 {
		return errTooLarge
	}
	if _, err := io.Copy(io.Discard, blob); err != nil {
		return err
	}
	if "sha256:"+hex.EncodeToString(blob.sum.Sum(nil)) != d.Digest {
		return fmt.Errorf("the blob is not what its digest says: %s", d.Digest)
	}
	return nil
}

// A blob is read once, and hashed while it is.
type blob struct {
	ctx  context.Context
	from io.Reader
	sum  hash.Hash
}

func (b *blob) Read(p []byte) (int, error) {
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := b.from.Read(p)
	b.sum.Write(p[:n])
	return n, err
}

func decompress(mediaType string, from io.Reader) (io.ReadCloser, error) {
	kind, known := strings.CutPrefix(mediaType, "application/vnd.oci.image.layer.v1.")
	switch {
	case known && kind == "tar":
		return io.NopCloser(from), nil
	case known && kind == "tar+gzip", mediaType == "application/vnd.docker.image.rootfs.diff.tar.gzip":
		return gzip.NewReader(from)
	case known && kind == "tar+zstd":
		d, err := zstd.NewReader(from, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxWindow), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, err
		}
		return d.IOReadCloser(), nil
	}
	return nil, fmt.Errorf("layers of the type %q are not read; tar, tar+gzip and tar+zstd are", mediaType)
}

var errTooLarge = errors.New("the image is larger than allowed; raise the bounds of the store if it is to be used")
