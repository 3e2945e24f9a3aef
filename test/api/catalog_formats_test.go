package api

import (
	"bytes"
	"net/http"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/test/client"
)

func readObjects(t *testing.T, paths ...string) (all []map[string]any) {
	t.Helper()
	for _, path := range paths {
		text := client.ReadFile(t, path)
		for doc := range bytes.SplitSeq(text, []byte("\n---\n")) {
			var o map[string]any
			if err := yaml.UnmarshalStrict(doc, &o); err != nil {
				t.Fatalf("%v in\n%s", err, doc)
			}
			all = append(all, o)
		}
	}
	return all
}

// eachKind runs test with a sample object of each kind that wanted selects. It fails the test if
// the number of selected kinds is below least.
func eachKind(t *testing.T, least int, wanted func(*schema.Kind) bool, test func(caller, *schema.Kind, map[string]any)) {
	t.Helper()
	c := newCatalog(t, meta.Kubernetes)
	s := client.Serve(t, t.TempDir(), func(c *daemon.Config) {
		c.Naming, c.Controllers = "kubernetes", client.KeepingControllers
		c.API.FeatureGates = daemon.Switches{"CSIVolumeHealth": true}
	})
	seen := map[*schema.Kind]bool{}
	for _, o := range readObjects(t, "testdata/representation/objects.yaml", "testdata/catalog/full.yaml") {
		p := &catalogPlayer{Client: s.Client, catalog: c, table: &tableFile{apiVersion: o["apiVersion"].(string), kind: o["kind"].(string)}}
		k, err := p.kind(catalogRequest{})
		if err != nil {
			t.Fatal(err)
		}
		if !wanted(k) || seen[k] {
			continue
		}
		seen[k] = true
		t.Run(k.APIVersion()+"|"+k.Kind, func(t *testing.T) { test(caller{t, s}, k, o) })
	}
	if len(seen) < least {
		t.Errorf("only %d kinds", len(seen))
	}
}

func hasStatus(k *schema.Kind) bool { return k.Subresource("status") != nil }

type formatClient struct {
	*testing.T
	catalog   *catalog.Catalog
	server    *client.Server
	transport *http.Transport
	protobuf  string // the media type
}

func (f formatClient) send(method, path, contentType, accept string, body []byte) []byte {
	f.Helper()
	answer := client.Exchange(f, f.transport, method, f.server.URL+path, string(body), "Content-Type: "+contentType, "Accept: "+accept)
	if answer.Code >= 300 {
		f.Fatalf("%s %s as %s: %d %q", method, path, contentType, answer.Code, answer.Body)
	}
	return answer.Body
}

// json returns an object as canonical JSON without managed fields, which change with each write.
func (f formatClient) json(path string) string {
	f.Helper()
	var o map[string]any
	client.Decode(f, f.send(http.MethodGet, path, client.JSON, client.JSON, nil), &o)
	delete(o["metadata"].(map[string]any), "managedFields")
	return compact(o)
}

// TestFormats checks that reading an object and writing it back changes nothing, not even the
// resourceVersion, in any format and version.
func TestFormats(t *testing.T) {
	t.Parallel()
	c := newCatalog(t, meta.Kubernetes)
	// Disable the garbage collector, because some sample objects have missing owners.
	s := client.Serve(t, t.TempDir(), func(c *daemon.Config) {
		c.Naming, c.Controllers = "kubernetes", client.KeepingControllers
	})
	transport := client.Transport(t, s.TLS)
	seen := map[*schema.Kind]bool{}
	for _, o := range readObjects(t, "testdata/representation/objects.yaml", "testdata/catalog/full.yaml") {
		p := &catalogPlayer{catalog: c, table: &tableFile{apiVersion: o["apiVersion"].(string), kind: o["kind"].(string)}}
		k, err := p.kind(catalogRequest{})
		if err != nil {
			t.Fatal(err)
		}
		seen[k] = true
		name := o["metadata"].(map[string]any)["name"].(string)
		t.Run(k.APIVersion()+"|"+k.Kind+"|"+name, func(t *testing.T) {
			f := formatClient{t, c, s, transport, "application/vnd.kubernetes.protobuf"}
			f.create(k, name, o)
			f.roundTrip(k, name)
		})
	}
	for _, k := range c.Kinds() {
		if !k.Virtual() && !seen[k] {
			t.Errorf("no sample of %s %s", k.APIVersion(), k.Kind)
		}
	}
}

func (f formatClient) create(k *schema.Kind, name string, o map[string]any) {
	f.send(http.MethodPost, collection(k), client.JSON, client.JSON, []byte(compact(o)))
	if k.Subresource("status") != nil && o["status"] != nil {
		status := compact(map[string]any{"status": o["status"]})
		f.send(http.MethodPatch, collection(k)+"/"+name+"/status", client.MergePatch, client.JSON, []byte(status))
	}
}

func (f formatClient) roundTrip(k *schema.Kind, name string) {
	own := collection(k) + "/" + name
	want := f.json(own)
	for _, form := range k.Stored.Versions {
		if !f.catalog.Serves(form) {
			continue
		}
		path := collection(form) + "/" + name
		paths := []string{path}
		if form.Subresource("status") != nil {
			paths = append(paths, path+"/status")
		}
		for _, media := range []string{client.JSON, f.protobuf} {
			for _, p := range paths {
				f.send(http.MethodPut, p, media, media, f.send(http.MethodGet, p, media, media, nil))
				if got := f.json(own); got != want {
					f.Fatalf("written back to %s as %s:\n%s\nwas\n%s", p, media, got, want)
				}
			}
		}
	}
}
