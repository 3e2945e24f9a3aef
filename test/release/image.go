package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// imageUser is the ID of the user and group in the image, as in docs/deploy.
const imageUser = 65532

// image writes an OCI layout with an image for all given platforms. Container engines can load it,
// and tools such as skopeo can copy it to a registry.
func (r *release) image(programs []staged) error {
	var all []mutate.IndexAddendum
	for _, s := range programs {
		i, err := r.platformImage(s)
		if err != nil {
			return err
		}
		all = append(all, mutate.IndexAddendum{Add: i, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: s.platform.os, Architecture: s.platform.arch}}})
	}
	index := mutate.AppendManifests(mutate.IndexMediaType(empty.Index, types.OCIImageIndex), all...)
	dir := filepath.Join(r.work, "image")
	to, err := layout.Write(dir, empty.Index)
	if err != nil {
		return err
	}
	if err := to.AppendIndex(index, layout.WithAnnotations(map[string]string{
		"org.opencontainers.image.ref.name": r.version,
		"io.containerd.image.name":          "docker.io/library/troupe:" + r.version, // the name in container engines
	})); err != nil {
		return err
	}
	return create(filepath.Join(r.out, "troupe_"+r.version+"_oci.tar"), func(w io.Writer) error { return writeTar(w, os.DirFS(dir), "", r.date) })
}

// platformImage returns an image with the program, its licenses, public CAs, and an empty data
// directory. The user, volume and command are those of docs/deploy/Containerfile.
func (r *release) platformImage(s staged) (v1.Image, error) {
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		var b bytes.Buffer
		err := r.writeLayer(&b, s)
		return io.NopCloser(&b), err
	}, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	i := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	created := v1.Time{Time: r.date}
	if i, err = mutate.Append(i, mutate.Addendum{Layer: layer, History: v1.History{Created: created, CreatedBy: "make release"}}); err != nil {
		return nil, err
	}
	config, err := i.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.Created, config.OS, config.Architecture = created, s.platform.os, s.platform.arch
	config.Config = v1.Config{
		User: "65532:65532", Entrypoint: []string{"/troupe"},
		Cmd:          []string{"serve", "--data-dir=/data", "--naming=kubernetes", "--bind-address=0.0.0.0"},
		ExposedPorts: map[string]struct{}{"6443/tcp": {}}, Volumes: map[string]struct{}{"/data": {}},
		Labels: map[string]string{
			"org.opencontainers.image.title": "troupe", "org.opencontainers.image.version": r.version, "org.opencontainers.image.revision": r.commit,
			"org.opencontainers.image.created": r.date.Format(time.RFC3339), "org.opencontainers.image.source": homepage, "org.opencontainers.image.licenses": "Apache-2.0",
		},
	}
	return mutate.ConfigFile(i, config)
}

func (r *release) writeLayer(w io.Writer, s staged) error {
	t := tar.NewWriter(w)
	for _, name := range []string{"troupe", "LICENSE", "THIRD_PARTY_NOTICES.txt"} {
		info, err := os.Stat(s.file(name))
		if err != nil {
			return err
		}
		h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: info.Size(), Mode: int64(mode(info)), ModTime: r.date}
		if err := errors.Join(t.WriteHeader(h), copyFile(t, os.DirFS(s.dir), name)); err != nil {
			return err
		}
	}
	certificates := roots()
	h := &tar.Header{Typeflag: tar.TypeReg, Name: rootsFile, Size: int64(len(certificates)), Mode: 0o644, ModTime: r.date}
	if err := t.WriteHeader(h); err != nil {
		return err
	}
	if _, err := t.Write(certificates); err != nil {
		return err
	}
	data := &tar.Header{Typeflag: tar.TypeDir, Name: "data/", Mode: 0o700, Uid: imageUser, Gid: imageUser, ModTime: r.date}
	return errors.Join(t.WriteHeader(data), t.Close())
}
