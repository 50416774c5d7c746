package image

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
)

// Documents of a layout are small; what is larger is not one.
const maxDocument = 4 << 20

// maxNesting is how deep an index may lead to an index.
const maxNesting = 3

// maxLayers is above what any builder makes.
const maxLayers = 512

type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int64             `json:"size"`
	Annotations map[string]string `json:"annotations"`
	Platform    *struct {
		Architecture string `json:"architecture"`
		OS           string `json:"os"`
	} `json:"platform"`
}

type index struct {
	Manifests []descriptor `json:"manifests"`
}

type manifest struct {
	MediaType string       `json:"mediaType"`
	Layers    []descriptor `json:"layers"`
}

const tagAnnotation = "org.opencontainers.image.ref.name"

// A layout is an OCI layout that is open for reading.
type layout struct{ root *os.Root }

func openLayout(path string) (*layout, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	l := &layout{root}
	var mark struct {
		Version string `json:"imageLayoutVersion"`
	}
	if err := l.document("oci-layout", &mark); err != nil {
		root.Close()
		return nil, fmt.Errorf("not an OCI layout: %w", err)
	}
	if !strings.HasPrefix(mark.Version, "1.") {
		root.Close()
		return nil, fmt.Errorf("the layout has version %q; 1 is read", mark.Version)
	}
	return l, nil
}

func (l *layout) close() { l.root.Close() }

// open opens a regular file; anything else might never end.
func (l *layout) open(name string) (*os.File, int64, error) {
	info, err := l.root.Stat(name)
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("%s is not a regular file", name)
	}
	f, err := l.root.Open(name)
	if err != nil {
		return nil, 0, err
	}
	return f, info.Size(), nil
}

func (l *layout) read(name string) ([]byte, error) {
	f, size, err := l.open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if size > maxDocument {
		return nil, fmt.Errorf("%s has %d bytes; a document of a layout has at most %d", name, size, maxDocument)
	}
	return io.ReadAll(io.LimitReader(f, maxDocument))
}

func (l *layout) document(name string, to any) error {
	data, err := l.read(name)
	if err == nil {
		err = json.Unmarshal(data, to)
	}
	return err
}

// blobPath is where the blob of d is.
func blobPath(d descriptor) (string, error) {
	if !digestForm.MatchString(d.Digest) {
		return "", fmt.Errorf("the digest %q is not one of sha256", d.Digest)
	}
	return "blobs/sha256/" + strings.TrimPrefix(d.Digest, "sha256:"), nil
}

// verified reads the document of d, checks it and decodes it.
func (l *layout) verified(d descriptor, to any) error {
	name, err := blobPath(d)
	if err != nil {
		return err
	}
	data, err := l.read(name)
	if err != nil {
		return err
	}
	if sum := sha256.Sum256(data); int64(len(data)) != d.Size || "sha256:"+hex.EncodeToString(sum[:]) != d.Digest {
		return fmt.Errorf("the blob %s is not what its digest and size say", d.Digest)
	}
	return json.Unmarshal(data, to)
}

// find gives the descriptor of the manifest that r names for this machine.
func (l *layout) find(r Ref) (descriptor, manifest, error) {
	var top index
	if err := l.document("index.json", &top); err != nil {
		return descriptor{}, manifest{}, err
	}
	d, err := choose(top.Manifests, r)
	for range maxNesting {
		if err != nil {
			return descriptor{}, manifest{}, err
		}
		if !isIndex(d.MediaType) {
			var m manifest
			if err := l.verified(d, &m); err != nil {
				return descriptor{}, manifest{}, err
			}
			if isIndex(m.MediaType) || len(m.Layers) > maxLayers {
				return descriptor{}, manifest{}, fmt.Errorf("%s is no manifest of an image of at most %d layers", d.Digest, maxLayers)
			}
			return d, m, nil
		}
		var inner index
		if err = l.verified(d, &inner); err == nil {
			d, err = forMachine(inner.Manifests)
		}
	}
	return descriptor{}, manifest{}, fmt.Errorf("the index leads to an index more than %d times", maxNesting)
}

func isIndex(mediaType string) bool {
	return mediaType == "application/vnd.oci.image.index.v1+json" || mediaType == "application/vnd.docker.distribution.manifest.list.v2+json"
}

// choose picks by digest or tag; without them the only one, or latest.
func choose(all []descriptor, r Ref) (descriptor, error) {
	tags := []string{}
	for _, d := range all {
		tag := d.Annotations[tagAnnotation]
		// Some builders write the whole name here.
		short := tag[strings.LastIndexAny(tag, ":/")+1:]
		switch {
		case r.Digest != "":
			if d.Digest == r.Digest {
				return d, nil
			}
		case r.Tag != "" && (tag == r.Tag || short == r.Tag):
			return d, nil
		case r.Tag == "" && (short == "latest" || len(all) == 1):
			return d, nil
		}
		tags = append(tags, tag)
	}
	if r.Digest != "" {
		return descriptor{}, fmt.Errorf("the layout has no image %s", r.Digest)
	}
	slices.Sort(tags)
	return descriptor{}, fmt.Errorf("the layout has no image of the tag %q; it has %q", r.Tag, tags[:min(len(tags), 20)])
}

func forMachine(all []descriptor) (descriptor, error) {
	for _, d := range all {
		if d.Platform != nil && d.Platform.OS == "linux" && d.Platform.Architecture == runtime.GOARCH {
			return d, nil
		}
	}
	return descriptor{}, fmt.Errorf("the image is not for linux/%s", runtime.GOARCH)
}
