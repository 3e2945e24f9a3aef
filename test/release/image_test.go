package main

import (
	"archive/tar"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	"golang.org/x/crypto/x509roots/fallback/bundle"

	"github.com/troupe-api/troupe/internal/must"
)

// TestImage unpacks the image and runs its command as its user, with a read-only root.
func TestImage(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Fatal("mounting a read-only root needs root")
	}
	r := must.Get(built())(t)
	image := theImage(t, filepath.Join(r.out, "troupe_0.3.0_oci.tar"))
	config := must.Get(image.ConfigFile())(t)
	if config.Config.User != "65532:65532" || config.Architecture != "amd64" || config.Config.Labels["org.opencontainers.image.revision"] != r.commit {
		t.Errorf("the configuration is %+v", config)
	}
	root, data := t.TempDir(), t.TempDir()
	files := mutate.Extract(image)
	defer files.Close()
	for unpacked := tar.NewReader(files); ; {
		h, err := unpacked.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		must.Succeed(t, err)
		path := filepath.Join(root, h.Name)
		if h.Typeflag == tar.TypeDir {
			must.Succeed(t, os.MkdirAll(path, h.FileInfo().Mode()))
		} else {
			must.Succeed(t, os.MkdirAll(filepath.Dir(path), 0o755))
			must.Succeed(t, os.WriteFile(path, must.Get(io.ReadAll(unpacked))(t), h.FileInfo().Mode()))
		}
		must.Succeed(t, os.Chown(path, h.Uid, h.Gid))
	}
	public := x509.NewCertPool()
	if !public.AppendCertsFromPEM(must.Get(os.ReadFile(filepath.Join(root, rootsFile)))(t)) {
		t.Errorf("%s has no certificates", rootsFile)
	}
	for root := range bundle.Roots() {
		c := must.Get(x509.ParseCertificate(root.Certificate))(t)
		_, err := c.Verify(x509.VerifyOptions{Roots: public, CurrentTime: c.NotBefore, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}})
		if trusted := err == nil; trusted != (root.Constraint == nil) {
			t.Errorf("%s: trusted %v, with a constraint %v", c.Subject, trusted, root.Constraint != nil)
		}
	}
	must.Succeed(t, os.Chown(data, imageUser, imageUser))
	const script = `mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && mount --bind "$1" "$0/data" && root=$0 && shift && exec chroot --userspec=65532:65532 "$root" "$@"`
	args := append([]string{"--mount", "sh", "-c", script, root, data}, config.Config.Entrypoint...)
	args = append(append(args, config.Config.Cmd...), "--bind-address=127.0.0.1", "--secure-port=0")
	c := exec.CommandContext(t.Context(), "unshare", args...)
	c.Env = config.Config.Env
	s := start(t, c)
	status := string(must.Get(os.ReadFile(fmt.Sprintf("/proc/%d/status", s.Process.Pid)))(t))
	if !strings.Contains(status, "\nUid:\t65532\t65532\t65532\t65532\n") || !strings.Contains(status, "\nCapEff:\t0000000000000000\n") {
		t.Errorf("the process has %s", status)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(must.Get(os.ReadFile(filepath.Join(data, "pki/ca.crt")))(t))
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, DisableKeepAlives: true}}
	answer := must.Get(client.Get(s.url + "/readyz"))(t)
	answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Errorf("/readyz: %s", answer.Status)
	}
	s.stop(t)
}

// theImage returns the only image in an OCI layout. All blobs must match their digests.
func theImage(t *testing.T, archive string) v1.Image {
	t.Helper()
	dir := t.TempDir()
	outputOf(t, "tar", "-xf", archive, "-C", dir)
	top := must.Get(layout.ImageIndexFromPath(dir))(t)
	named := must.Get(top.IndexManifest())(t).Manifests
	if len(named) != 1 || named[0].Annotations["org.opencontainers.image.ref.name"] != testVersion {
		t.Fatalf("the layout has %+v", named)
	}
	index := must.Get(top.ImageIndex(named[0].Digest))(t)
	must.Succeed(t, validate.Index(index))
	images := must.Get(index.IndexManifest())(t).Manifests
	if len(images) != 1 || images[0].Platform.String() != "linux/amd64" {
		t.Fatalf("the index has %+v", images)
	}
	return must.Get(index.Image(images[0].Digest))(t)
}
