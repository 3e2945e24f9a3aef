package api

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/test/client"
)

type representationObject struct {
	kind *schema.Kind
	name string
	body []byte // JSON
}

func objects(t *testing.T, c *catalog.Catalog) (all []representationObject) {
	t.Helper()
	text, err := os.ReadFile("testdata/representation/objects.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for doc := range bytes.SplitSeq(text, []byte("\n---\n")) {
		body, err := yaml.YAMLToJSONStrict(doc)
		if err != nil {
			t.Fatalf("%v in\n%s", err, doc)
		}
		var head struct {
			APIVersion, Kind string
			Metadata         struct{ Name string }
		}
		client.Decode(t, body, &head)
		group, version, grouped := strings.Cut(head.APIVersion, "/")
		if !grouped {
			group, version = "", head.APIVersion
		}
		k := c.ByGVK(meta.GroupVersionKind{Group: group, Version: version, Kind: head.Kind})
		if k == nil {
			t.Fatalf("%s %s is not in the catalogue", head.APIVersion, head.Kind)
		}
		all = append(all, representationObject{k, head.Metadata.Name, body})
	}
	return all
}

func (o representationObject) collection() string {
	path := "/apis/" + o.kind.APIVersion()
	if o.kind.Group == "" {
		path = "/api/" + o.kind.Version
	}
	if o.kind.Namespaced {
		path += "/namespaces/default"
	}
	return path + "/" + o.kind.Resource
}

func (o representationObject) path() string { return o.collection() + "/" + o.name }

func (o representationObject) String() string { return o.kind.APIVersion() + "/" + o.kind.Kind }

type requester struct {
	*client.Server
	transport *http.Transport
}

func serveRepresentation(t *testing.T) *requester {
	t.Helper()
	// Disable controllers that would change objects or delete those with missing owners.
	s := client.Serve(t, t.TempDir(), func(c *daemon.Config) {
		c.Naming, c.Controllers = "kubernetes", client.KeepingControllers
		c.API.FeatureGates = daemon.Switches{"CBORServingAndStorage": true}
	})
	transport := &http.Transport{TLSClientConfig: s.TLS}
	t.Cleanup(transport.CloseIdleConnections)
	return &requester{s, transport}
}

func (a *requester) create(t *testing.T, o representationObject) {
	t.Helper()
	answer, err := a.Create(t.Context(), o.collection(), o.body)
	if err != nil {
		t.Fatal(err)
	}
	if answer.Code != http.StatusCreated {
		t.Fatalf("create: %s", answer)
	}
}

// open sends a GET request with an Accept header. The caller must read the body.
func (a *requester) open(t *testing.T, path, accept string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, a.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", accept)
	answer, err := a.transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { answer.Body.Close() })
	return answer
}

// get returns the body of a response, which must have status code 200 and the given content type.
func (a *requester) get(t *testing.T, path, accept, contentType string) []byte {
	t.Helper()
	answer := a.open(t, path, accept)
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	if answer.StatusCode != http.StatusOK {
		t.Fatalf("%s as %s: %d %s", path, accept, answer.StatusCode, body)
	}
	if got := answer.Header.Get("Content-Type"); got != contentType {
		t.Errorf("%s as %s: Content-Type %q, want %q", path, accept, got, contentType)
	}
	return body
}
