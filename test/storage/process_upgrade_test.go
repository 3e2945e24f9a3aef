package storage

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/test/client"
)

// unpackEarlierData unpacks a data directory of format 1, whose daemon was killed while writing. It
// contains built-in objects of all kinds, and custom objects. The current version would reject some
// of them. served maps list paths and object names to a prefix of the SHA-256 of the unchanged
// object.
func unpackEarlierData(t *testing.T) (dir string, served map[string]map[string]string) {
	t.Helper()
	file := must.Get(os.Open("testdata/process/earlier.tar.gz"))(t)
	defer func() { _ = file.Close() }()
	unzipped := must.Get(gzip.NewReader(file))(t)
	dir = t.TempDir()
	archive := tar.NewReader(unzipped)
	for {
		head, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		must.Succeed(t, err)
		path := filepath.Join(dir, head.Name)
		if head.Typeflag == tar.TypeDir {
			must.Succeed(t, os.MkdirAll(path, 0o700))
			continue
		}
		text := must.Get(io.ReadAll(archive))(t)
		client.WriteFile(t, path, text)
	}
	text := client.ReadFile(t, filepath.Join(dir, "served.json"))
	client.Decode(t, text, &served)
	return dir, served
}

// stored returns the objects of a list, keyed by namespace/name.
func (c caller) stored(t *testing.T, path string) map[string]json.RawMessage {
	t.Helper()
	var list struct{ Items []json.RawMessage }
	client.Decode(t, c.must(t, 200, "GET", path, ""), &list)
	objects := make(map[string]json.RawMessage, len(list.Items))
	for _, item := range list.Items {
		var o struct {
			Metadata struct{ Namespace, Name string }
		}
		client.Decode(t, item, &o)
		objects[o.Metadata.Namespace+"/"+o.Metadata.Name] = item
	}
	return objects
}

// as sends a request with the given Accept and Content-Type headers and returns the status code.
func (c caller) as(t *testing.T, method, path, accept, kind, body string) int {
	t.Helper()
	r := must.Get(http.NewRequestWithContext(t.Context(), method, c.url+path, strings.NewReader(body)))(t)
	r.Header.Set("Accept", accept)
	r.Header.Set("Content-Type", kind)
	answer := must.Get(c.http.Do(r))(t)
	defer func() { _ = answer.Body.Close() }()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		t.Errorf("%s %s: %v", method, path, err)
	}
	return answer.StatusCode
}

// place returns the path of an object, given the path of a list across namespaces and its name.
func place(list, name string) string {
	namespace, name, _ := strings.Cut(name, "/")
	if namespace == "" {
		return list + "/" + name
	}
	i := strings.LastIndexByte(list, '/')
	return list[:i] + "/namespaces/" + namespace + list[i:] + "/" + name
}

// TestUpgrade opens the data directory of an earlier version. Clients must be able to read all
// objects in every format, and to change and delete them, even if the current version would reject
// them. The Events are older than any TTL, so their expiry is disabled.
func TestUpgrade(t *testing.T) {
	dir, served := unpackEarlierData(t)
	// Disable the controllers that would change the data by writing statuses or Endpoints, binding
	// or protecting volumes, or deleting old objects.
	p := serveProcess(t, dir, "--naming", "kubernetes", "--event-ttl", "0", "--controllers", "*,-resourcequota-controller,-validatingadmissionpolicy-status-controller,-apiservice-availability-controller,-priority-and-fairness-config-producer,-persistentvolume-protection-controller,-persistentvolumeclaim-protection-controller,-volumeattributesclass-protection-controller,-persistentvolume-binder-controller,-disruption-controller,-endpoints-controller,-service-cidr-controller,-certificatesigningrequest-cleaner-controller")
	c := p.caller()
	const binary, merge, operations = "application/vnd.kubernetes.protobuf", "application/merge-patch+json", "application/json-patch+json"
	for path, objects := range served {
		now := c.stored(t, path)
		for name, sum := range objects {
			digest := sha256.Sum256(now[name])
			if got := hex.EncodeToString(digest[:8]); got != sum {
				t.Errorf("%s of %s has changed: %.300s", name, path, now[name])
			}
		}
		if strings.HasPrefix(path, "/apis/e.com/") || strings.HasPrefix(path, "/apis/example.org/") {
			continue // these kinds do not support Protobuf
		}
		if code := c.as(t, "GET", path, binary, "", ""); code != 200 {
			t.Errorf("%s in Protobuf: %d", path, code)
		}
		for name := range objects {
			if code := c.as(t, "GET", place(path, name), binary, "", ""); code != 200 {
				t.Errorf("%s in Protobuf: %d", place(path, name), code)
			}
		}
	}
	for path, objects := range served {
		for name := range objects {
			at := place(path, name)
			if code := c.as(t, "PATCH", at, "application/json", merge, `{"metadata":{"annotations":{"a":"b"}}}`); code != 200 {
				t.Errorf("a merge patch of %s: %d", at, code)
			}
			if code := c.as(t, "PATCH", at, "application/json", operations, `[{"op":"replace","path":"/metadata/annotations/a","value":"c"}]`); code != 200 {
				t.Errorf("a JSON patch of %s: %d", at, code)
			}
		}
	}
	disposable := []string{"/api/v1/configmaps", "/api/v1/services", "/apis/apps/v1/controllerrevisions", "/apis/e.com/v1/opens", "/apis/e.com/v1/ruleds"}
	for _, path := range disposable {
		for name := range served[path] {
			if code := c.as(t, "DELETE", place(path, name), "application/json", "application/json", `{"propagationPolicy":"Foreground"}`); code != 200 && code != 202 {
				t.Errorf("a delete of %s: %d", place(path, name), code)
			}
			code := c.as(t, "PATCH", place(path, name), "application/json", operations, `[{"op":"remove","path":"/metadata/finalizers"}]`)
			if !slices.Contains([]int{200, 404, 422}, code) { // the garbage collector may delete the object first
				t.Errorf("finalizers of %s: %d", place(path, name), code)
			}
		}
	}
	c.must(t, 200, "DELETE", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/ruleds.e.com", "")
	eventually(t, "all that was deleted is gone", func() bool {
		for _, path := range disposable[:4] {
			now := c.stored(t, path)
			for name := range served[path] {
				if now[name] != nil && name != "default/kubernetes" && !strings.HasSuffix(name, "/kube-root-ca.crt") {
					return false
				}
			}
		}
		code, _, err := c.do("GET", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/ruleds.e.com", "")
		return err == nil && code == 404
	})
	p.Stop()
	serveProcess(t, dir, "--naming", "kubernetes").Stop()
}
