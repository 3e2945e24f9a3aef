package policy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"sigs.k8s.io/yaml"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/test/client"
)

// A fuzzObject is a valid stored object that the fuzzer overwrites.
type fuzzObject struct {
	kind *schema.Kind
	body tree.Tree
}

func (q *fuzzObject) collection() string {
	path := "/apis/" + q.kind.APIVersion()
	if q.kind.Group == "" {
		path = "/api/" + q.kind.Version
	}
	if q.kind.Namespaced {
		path += "/namespaces/default"
	}
	return path + "/" + q.kind.Resource
}

func (q *fuzzObject) path() string {
	return q.collection() + "/" + q.body["metadata"].(tree.Tree)["name"].(string)
}

// fuzzObjects returns a valid object of every stored kind.
func fuzzObjects(t *testing.T, c *catalog.Catalog) (all []*fuzzObject) {
	t.Helper()
	text, err := os.ReadFile("../api/testdata/representation/objects.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for doc := range bytes.SplitSeq(text, []byte("\n---\n")) {
		body, err := yaml.YAMLToJSONStrict(doc)
		if err != nil {
			t.Fatal(err)
		}
		object := tree.Tree{}
		client.Decode(t, body, &object)
		group, version, grouped := strings.Cut(object["apiVersion"].(string), "/")
		if !grouped {
			group, version = "", object["apiVersion"].(string)
		}
		k := c.ByGVK(meta.GroupVersionKind{Group: group, Version: version, Kind: object["kind"].(string)})
		if k == nil {
			t.Fatalf("no kind for %s", body)
		}
		all = append(all, &fuzzObject{k, object})
	}
	return all
}

// A Blob allows any content in data. Unlike the kinds in the catalog, it is a custom resource.
const blobDefinition = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"blobs.hunt.example.com"},
	"spec":{"group":"hunt.example.com","scope":"Namespaced","names":{"plural":"blobs","singular":"blob","kind":"Blob","listKind":"BlobList"},
	"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object",
	"properties":{"data":{"x-kubernetes-preserve-unknown-fields":true},"items":{"type":"array","items":{"type":"object","properties":{"a":{"type":"string","default":"<<<<"}}}}}}}}]}}`

const blobs = "/apis/hunt.example.com/v1/namespaces/default/blobs"

// TestHostileObjects sends hostile objects of every kind in every format, and restarts the server
// after each round. The restart must not change a byte of any accepted object, and Protobuf lists
// must equal JSON lists.
func TestHostileObjects(t *testing.T) {
	shots, sent := 12, 0
	if client.Soak() {
		shots = 100
	}
	optional := map[string]bool{"admissionregistration.k8s.io/v1beta1": true}
	c, err := catalog.NewWithConfig(meta.Kubernetes, optional, nil)
	if err != nil {
		t.Fatal(err)
	}
	dir, all := t.TempDir(), fuzzObjects(t, c)
	serve := func() *client.Server {
		return client.Serve(t, dir, func(c *daemon.Config) {
			c.Naming, c.Controllers, c.API.RuntimeConfig = "kubernetes", client.KeepingControllers, optional
		})
	}
	s := serve()
	for _, q := range all {
		mustSend(t, s, "POST", q.collection(), typeJSON, text(q.body))
	}
	mustSend(t, s, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", typeJSON, blobDefinition)
	mustSend(t, s, "POST", blobs, typeJSON, `{"apiVersion":"hunt.example.com/v1","kind":"Blob","metadata":{"name":"w"},"data":{}}`)
	for round := range client.Rounds(t, 1, 1) {
		h := &fuzzer{t: t, s: s, r: rand.New(rand.NewPCG(uint64(round), 12)), accepted: map[string]int{}}
		for _, q := range all {
			for range shots {
				h.writeHostile(q)
			}
		}
		for range 5 * shots {
			h.blob()
		}
		before := storedLists(t, s, all, true)
		s.Stop(t)
		s = serve()
		after := storedLists(t, s, all, true)
		for path, was := range before {
			if after[path] != was {
				t.Errorf("round %d: %s has changed over the restart: %s", round, path, difference(was, after[path]))
			}
		}
		if answer, err := s.Get(t.Context(), "/metrics"); err != nil || !bytes.Contains(answer.Body, []byte("troupe_unreadable_objects 0\n")) {
			t.Errorf("round %d: something was stored that cannot be read, %v", round, err)
		}
		for _, format := range []string{typeJSON, typeYAML, typeProtobuf, typeJSONPatch, typeMerge, typeApply} {
			if h.accepted[format] == 0 {
				t.Errorf("round %d: nothing was accepted as %s", round, format)
			}
		}
		t.Logf("round %d: of %d accepted %v", round, h.sent, h.accepted)
		sent += h.sent
		if t.Failed() {
			return
		}
	}
	client.Figures(t, "%d hostile objects of all kinds", sent)
}

const (
	typeYAML     = "application/yaml"
	typeProtobuf = "application/vnd.kubernetes.protobuf"
)

func mustSend(t *testing.T, s *client.Server, method, path, kind, body string) client.Answer {
	t.Helper()
	answer, err := s.Do(t.Context(), method, path, kind, []byte(body))
	if err != nil {
		t.Fatalf("%s %s as %s ended the connection: %v: %.500s", method, path, kind, err, body)
	}
	if answer.Code >= 500 {
		t.Errorf("%s %s as %s: %.500s for %.2000s", method, path, kind, answer.String(), body)
	}
	return answer
}

// storedLists returns the items of every collection as JSON, by path. If compare is true, it
// compares them with the Protobuf form of each kind that supports it.
func storedLists(t *testing.T, s *client.Server, all []*fuzzObject, compare bool) map[string]string {
	t.Helper()
	lists := map[string]string{}
	for _, q := range all {
		path := q.collection()
		if _, seen := lists[path]; seen {
			continue
		}
		plain := itemsOf(t, s, path)
		lists[path] = strings.Join(slices.DeleteFunc(slices.Clone(plain), ownService), "\n")
		if compare {
			compareProtobuf(t, s, q, plain)
		}
	}
	lists[blobs] = strings.Join(itemsOf(t, s, blobs), "\n")
	return lists
}

// ownService reports whether item is the API server's Service, whose port may change on a restart.
func ownService(item string) bool {
	return strings.HasPrefix(item, `{"metadata":{"name":"kubernetes","namespace":"default"`)
}

func itemsOf(t *testing.T, s *client.Server, path string) (items []string) {
	t.Helper()
	answer, err := s.Get(t.Context(), path)
	if err != nil || answer.Code != http.StatusOK {
		t.Fatalf("list %s: %v %.300s", path, err, answer.String())
	}
	var list struct{ Items []json.RawMessage }
	if err := json.Unmarshal(answer.Body, &list); err != nil {
		t.Fatalf("list %s: %v", path, err)
	}
	for _, item := range list.Items {
		var object map[string]any // as decoded by a client without types
		if err := json.Unmarshal(item, &object); err != nil {
			t.Errorf("list %s: %v in %.300s", path, err, item)
		}
		items = append(items, string(item))
	}
	return items
}

func compareProtobuf(t *testing.T, s *client.Server, q *fuzzObject, plain []string) {
	t.Helper()
	answer, err := s.GetAs(t.Context(), q.collection(), typeProtobuf)
	if err != nil || answer.Code != http.StatusOK {
		t.Fatalf("list %s in Protobuf: %v %.300s", q.collection(), err, answer.String())
	}
	envelope, err := codec.UnwrapEnvelope(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for raw := envelope.Raw; len(raw) > 0; {
		number, kind, n := protowire.ConsumeTag(raw)
		size := protowire.ConsumeFieldValue(number, kind, raw[n:])
		if n < 0 || size < 0 {
			t.Fatalf("list %s in Protobuf is malformed", q.collection())
		}
		if number == 2 {
			item, _ := protowire.ConsumeBytes(raw[n:])
			tree, _, err := codec.DecodeProtobuf(q.kind.Message(), item)
			if err != nil {
				t.Fatalf("list %s in Protobuf: %v", q.collection(), err)
			}
			found = append(found, string(codec.AppendValue(nil, q.kind.Message(), tree)))
		}
		raw = raw[n+size:]
	}
	for i, item := range plain {
		wire, err := codec.AppendProtobuf(nil, q.kind.Message(), []byte(item))
		if err != nil {
			t.Fatalf("list %s: %v in %.500s", q.collection(), err, item)
		}
		tree, _, err := codec.DecodeProtobuf(q.kind.Message(), wire)
		if err != nil {
			t.Fatalf("list %s: %v in %.500s", q.collection(), err, item)
		}
		plain := string(codec.AppendValue(nil, q.kind.Message(), tree))
		if i >= len(found) || found[i] != plain {
			t.Errorf("list %s in Protobuf is another: %s", q.collection(), difference(plain, strings.Join(found[min(i, len(found)):], "")))
		}
	}
}

// difference returns excerpts of two texts around their first difference.
func difference(a, b string) string {
	at := 0
	for at < min(len(a), len(b)) && a[at] == b[at] {
		at++
	}
	show := func(s string) string { return s[max(0, min(at-100, len(s))):min(len(s), at+200)] }
	return fmt.Sprintf("\n%q\n%q", show(a), show(b))
}

// A rawJSON is inserted into a body unchanged, even if it is invalid.
type rawJSON string

// text encodes a tree that may contain rawJSON.
func text(v any) string {
	switch v := v.(type) {
	case rawJSON:
		return string(v)
	case tree.Tree:
		var parts []string
		for key, item := range v {
			name, _ := json.Marshal(key)
			parts = append(parts, string(name)+":"+text(item))
		}
		slices.Sort(parts)
		return "{" + strings.Join(parts, ",") + "}"
	case []any:
		var parts []string
		for _, item := range v {
			parts = append(parts, text(item))
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	out, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(out)
}
