package realnode

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	dirs     []string          // additional empty directories that all users can write to

	Entrypoint, Cmd, Env []string
	User                 string
}

// write writes the image as an archive for "ctr image import": manifest.json, a configuration, and
// one layer.
func (i image) write(path string) error {
	layer, err := os.CreateTemp(filepath.Dir(path), "layer")
	if err != nil {
		return err
	}
	defer os.Remove(layer.Name())
	defer layer.Close()
	sum := sha256.New()
	if err := i.writeLayer(io.MultiWriter(layer, sum)); err != nil {
		return err
	}
	config, err := json.Marshal(map[string]any{
		"architecture": "amd64", "os": "linux",
		"config": map[string]any{"Entrypoint": i.Entrypoint, "Cmd": i.Cmd, "Env": append([]string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin:/"}, i.Env...), "User": i.User, "WorkingDir": "/"},
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{"sha256:" + hex.EncodeToString(sum.Sum(nil))}},
	})
	if err != nil {
		return err
	}
	manifest, err := json.Marshal([]any{map[string]any{"Config": "config.json", "RepoTags": i.names, "Layers": []string{"layer.tar"}}})
	if err != nil {
		return err
	}
	file, err := os.Create(path + ".new")
	if err != nil {
		return err
	}
	defer file.Close()
	out := tar.NewWriter(file)
	size, err := layer.Seek(0, io.SeekCurrent)
	if err == nil {
		_, err = layer.Seek(0, io.SeekStart)
	}
	if err = errors.Join(err,
		addFile(out, "config.json", 0o644, int64(len(config)), strings.NewReader(string(config))),
		addFile(out, "manifest.json", 0o644, int64(len(manifest)), strings.NewReader(string(manifest))),
		addFile(out, "layer.tar", 0o644, size, layer),
		out.Close(), file.Close(),
	); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
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
		return errors.Join(dirs(filepath.Dir(target), 0o755), addFile(out, target, 0o755, info.Size(), f))
	}
	for _, dir := range append([]string{"tmp"}, i.dirs...) {
		if err := dirs(strings.TrimPrefix(dir, "/"), 0o1777); err != nil {
			return err
		}
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
