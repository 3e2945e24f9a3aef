package realnode

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// An image is a container image built from files of this machine.
type image struct {
	names    []string          // such as registry.k8s.io/pause:3.10
	programs map[string]string // paths in the image: programs of this machine, with their libraries
	links    map[string]string // paths in the image: targets of symbolic links
	files    map[string]string // paths in the image: contents

	setUserID  bool // programs run as their owner, root
	compressed bool // the layer is gzipped, as tools expect that read it without a container

	Entrypoint, Cmd, Env []string
	User                 string
}

// write adds the image to the registry of a directory. The image has one layer.
func (i image) write(dir string) error {
	layer, err := os.CreateTemp(dir, "layer")
	if err != nil {
		return err
	}
	defer layer.Close()
	sum, mediaType := sha256.New(), "application/vnd.oci.image.layer.v1.tar"
	out := io.MultiWriter(layer, sum)
	if i.compressed {
		mediaType += "+gzip"
		z := gzip.NewWriter(out)
		err = errors.Join(i.writeLayer(z), z.Close())
	} else {
		err = i.writeLayer(out)
	}
	if err != nil {
		return err
	}
	size, err := layer.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	digest := digestOf(sum)
	if err := os.Rename(layer.Name(), filepath.Join(dir, digest)); err != nil {
		return err
	}
	config, err := writeBlob(dir, "application/vnd.oci.image.config.v1+json", map[string]any{
		"architecture": "amd64", "os": "linux",
		"config": map[string]any{"Entrypoint": i.Entrypoint, "Cmd": i.Cmd, "Env": append([]string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin:/"}, i.Env...), "User": i.User, "WorkingDir": "/"},
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{digest}},
	})
	if err != nil {
		return err
	}
	manifest, err := writeBlob(dir, manifestType, map[string]any{
		"schemaVersion": 2, "mediaType": manifestType, "config": config,
		"layers": []descriptor{{MediaType: mediaType, Digest: digest, Size: size}},
	})
	for _, name := range i.names {
		_, name, _ = strings.Cut(name, "/") // the registry
		err = errors.Join(err, link(filepath.Join(dir, manifest.Digest), filepath.Join(dir, strings.ReplaceAll(name, "/", "_"))))
	}
	return err
}

const manifestType = "application/vnd.oci.image.manifest.v1+json"

// A descriptor refers to a blob, as OCI's image specification defines it.
type descriptor struct {
	MediaType string `json:"mediaType"`
	Digest    string `json:"digest"`
	Size      int64  `json:"size"`
}

func writeBlob(dir, mediaType string, content any) (descriptor, error) {
	text, err := json.Marshal(content)
	if err != nil {
		return descriptor{}, err
	}
	sum := sha256.New()
	_, _ = sum.Write(text) // never fails
	d := descriptor{mediaType, digestOf(sum), int64(len(text))}
	return d, os.WriteFile(filepath.Join(dir, d.Digest), text, 0o600)
}

func digestOf(sum hash.Hash) string { return "sha256:" + hex.EncodeToString(sum.Sum(nil)) }

// registry serves the images of a directory as OCI's distribution specification defines it. Each
// file is a blob with its digest as name, or a manifest with the name and tag of an image.
func registry(dir string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v2/{path...}", func(w http.ResponseWriter, r *http.Request) {
		name, file, isManifest := strings.Cut(r.PathValue("path"), "/manifests/")
		if isManifest {
			w.Header().Set("Content-Type", manifestType)
			if !strings.HasPrefix(file, "sha256:") {
				file = strings.ReplaceAll(name, "/", "_") + ":" + file
			}
		} else {
			w.Header().Set("Content-Type", "application/octet-stream")
			_, file, _ = strings.Cut(name, "/blobs/")
		}
		http.ServeFile(w, r, filepath.Join(dir, filepath.Base(file)))
	})
	return mux
}

func (i image) writeLayer(w io.Writer) error {
	out := tar.NewWriter(w)
	written := map[string]bool{}
	var dirs func(path string, mode int64) error
	dirs = func(path string, mode int64) error {
		if path == "." || path == "/" || written[path] {
			return nil
		}
		written[path] = true
		return errors.Join(dirs(filepath.Dir(path), 0o755), out.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: path + "/", Mode: mode}))
	}
	program := func(target, source string) error {
		target = strings.TrimPrefix(target, "/")
		if written[target] {
			return nil
		}
		written[target] = true
		f, err := os.Open(source)
		if err != nil {
			return err
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			return err
		}
		mode := int64(0o755)
		if i.setUserID {
			mode |= 0o4000
		}
		return errors.Join(dirs(filepath.Dir(target), 0o755), addFile(out, target, mode, info.Size(), f))
	}
	if err := dirs("tmp", 0o1777); err != nil {
		return err
	}
	for _, target := range sorted(i.programs) {
		source, err := lookPath(i.programs[target])
		if err != nil {
			return err
		}
		libraries, err := librariesOf(source)
		if err != nil {
			return err
		}
		for _, library := range libraries {
			if err := program(library, library); err != nil {
				return err
			}
		}
		if err := program(target, source); err != nil {
			return err
		}
	}
	for _, target := range sorted(i.files) {
		text := i.files[target]
		name := strings.TrimPrefix(target, "/")
		mode := int64(0o644)
		if strings.HasPrefix(text, "#!") {
			mode = 0o755
		}
		if err := errors.Join(dirs(filepath.Dir(name), 0o755), addFile(out, name, mode, int64(len(text)), strings.NewReader(text))); err != nil {
			return err
		}
	}
	for _, target := range sorted(i.links) {
		name := strings.TrimPrefix(target, "/")
		if err := errors.Join(dirs(filepath.Dir(name), 0o755), out.WriteHeader(&tar.Header{Typeflag: tar.TypeSymlink, Name: name, Linkname: i.links[target], Mode: 0o777})); err != nil {
			return err
		}
	}
	return out.Close()
}

func addFile(w *tar.Writer, name string, mode, size int64, content io.Reader) error {
	if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: mode, Size: size}); err != nil {
		return err
	}
	_, err := io.Copy(w, content)
	return err
}

func sorted(m map[string]string) []string {
	var names []string
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// library matches the path of a library in the output of ldd.
var library = regexp.MustCompile(`(?m)^\s*(?:\S+ => )?(/\S+) \(0x`)

// librariesOf returns the paths of a program's shared libraries, or none if it is static.
func librariesOf(program string) ([]string, error) {
	out, err := exec.Command("ldd", program).CombinedOutput()
	if err != nil {
		if strings.Contains(string(out), "not a dynamic executable") {
			return nil, nil
		}
		return nil, fmt.Errorf("ldd %s: %w\n%s", program, err, out)
	}
	var all []string
	for _, m := range library.FindAllStringSubmatch(string(out), -1) {
		all = append(all, m[1])
	}
	return all, nil
}
