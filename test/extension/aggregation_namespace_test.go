package extension

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

// content stores a backend's objects and their finalizers.
type content struct {
	mu         sync.Mutex
	collection bool                // whether deletecollection is supported
	dead       bool                // whether every request fails
	things     map[string][]string // finalizers by path
	options    string              // options of the last delete
}

// handle serves the stored objects. It is a backend's handle function.
func (c *content) handle(w http.ResponseWriter, r *http.Request) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch {
	case c.dead:
		w.WriteHeader(http.StatusServiceUnavailable)
	case len(parts) == 3:
		verbs := `"delete","get","list"`
		if c.collection {
			verbs += `,"deletecollection"`
		}
		fmt.Fprintf(w, `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"ext.example.com/v1","resources":[
			{"name":"things","singularName":"thing","namespaced":true,"kind":"Thing","verbs":[%s]},
			{"name":"readings","singularName":"reading","namespaced":true,"kind":"Reading","verbs":["get","list"]}]}`, verbs)
	case len(parts) < 6 || parts[5] != "things":
		return false
	case r.Method == http.MethodDelete:
		body, _ := io.ReadAll(r.Body)
		c.options = string(body)
		maps.DeleteFunc(c.things, func(path string, finalizers []string) bool {
			return len(finalizers) == 0 && (path == r.URL.Path || c.collection && strings.HasPrefix(path, r.URL.Path+"/"))
		})
		fmt.Fprint(w, `{"kind":"Status"}`)
	default:
		items := []string{}
		for _, path := range slices.Sorted(maps.Keys(c.things)) {
			if name, in := strings.CutPrefix(path, r.URL.Path+"/"); in {
				finalizers, _ := json.Marshal(c.things[path])
				items = append(items, fmt.Sprintf(`{"metadata":{"name":%q,"finalizers":%s}}`, name, finalizers))
			}
		}
		fmt.Fprintf(w, `{"kind":"ThingList","items":[%s]}`, strings.Join(items, ","))
	}
	return true
}

func (c *content) change(do func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	do()
}

// namespace creates a namespace and two objects in the backend. It returns the path of the object
// with a finalizer.
func (c *content) namespace(s aggregationSession, name string) (held string) {
	s.Send(201, "POST", "/api/v1/namespaces", client.JSON, `{"metadata":{"name":"`+name+`"}}`)
	path := "/apis/ext.example.com/v1/namespaces/" + name + "/things/"
	c.change(func() {
		c.things = map[string][]string{path + "free": nil, path + "held": {"example.com/hold"}, "/apis/ext.example.com/v1/namespaces/other/things/x": nil}
	})
	return path + "held"
}

// wantNamespaceCondition waits until a condition of a namespace has the given status and message.
func (s aggregationSession) wantNamespaceCondition(namespace, kind, status, message string) {
	s.T.Helper()
	client.Eventually(s.T, func() error {
		var o struct {
			Status struct {
				Conditions []struct{ Type, Status, Message string }
			}
		}
		a := s.Send(200, "GET", "/api/v1/namespaces/"+namespace, "", "")
		if err := json.Unmarshal(a.Body, &o); err != nil {
			return err
		}
		for _, c := range o.Status.Conditions {
			if c.Type == kind && c.Status == status && c.Message == message {
				return nil
			}
		}
		return fmt.Errorf("no %s %s %q in %s", kind, status, message, a)
	})
}

func (s aggregationSession) wantGone(namespace string) {
	s.T.Helper()
	client.Eventually(s.T, func() error {
		if a, err := s.Get(s.T.Context(), "/api/v1/namespaces/"+namespace); err != nil || a.Code != 404 {
			return fmt.Errorf("%s, %w", a, err)
		}
		return nil
	})
}

// TestNamespaceContent checks that deleting a namespace deletes its objects in aggregated servers,
// with deletecollection or one by one. The namespace's conditions report the remaining objects.
func TestNamespaceContent(t *testing.T) {
	t.Parallel()
	for _, collection := range []bool{false, true} {
		c := &content{collection: collection}
		b := startBackend(t, c.handle)
		s := openAggregation(t, b.address(), nil)
		s.register(b, "ext.example.com", "v1")
		held := c.namespace(s, "n")
		s.Send(200, "DELETE", "/api/v1/namespaces/n", "", "")
		s.wantNamespaceCondition("n", "NamespaceContentRemaining", "True", "Some resources are remaining: things.ext.example.com has 1 resource instances")
		s.wantNamespaceCondition("n", "NamespaceFinalizersRemaining", "True", "Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances")
		s.wantNamespaceCondition("n", "NamespaceDeletionDiscoveryFailure", "False", "All resources successfully discovered")
		s.wantNamespaceCondition("n", "NamespaceDeletionContentFailure", "False", "All content successfully deleted, may be waiting on finalization")
		if user := b.last("/apis/ext.example.com/v1/namespaces/n/things").Header.Get("X-Remote-User"); user != "system:serviceaccount:platform-system:namespace-controller" {
			t.Errorf("it was asked as %q", user)
		}
		c.change(func() { c.things[held] = nil })
		s.wantGone("n")
		c.change(func() {
			if len(c.things) != 1 || !strings.Contains(c.options, `"propagationPolicy":"Background"`) {
				t.Errorf("left are %v, deleted by %s", c.things, c.options)
			}
		})
	}
}

// TestNamespaceOfDeadServer checks that a namespace deletion waits while an aggregated server is
// unavailable. It completes once the server is back or its APIService is deleted.
func TestNamespaceOfDeadServer(t *testing.T) {
	t.Parallel()
	c := &content{dead: true, collection: true}
	b := startBackend(t, c.handle)
	s := openAggregation(t, b.address(), nil)
	s.Send(201, "POST", apiServices, client.JSON, apiService("ext.example.com", "v1", `,"caBundle":"`+b.ca()+`"`))
	const failing = "Discovery failed for some groups, 1 failing: unable to retrieve the complete list of server APIs: ext.example.com/v1: stale GroupVersion discovery: ext.example.com/v1"
	held := c.namespace(s, "n")
	s.Send(200, "DELETE", "/api/v1/namespaces/n", "", "")
	s.wantNamespaceCondition("n", "NamespaceDeletionDiscoveryFailure", "True", failing)
	c.change(func() { c.dead, c.things[held] = false, nil })
	s.wantGone("n")
	c.change(func() {
		if len(c.things) != 1 {
			t.Errorf("left are %v", c.things)
		}
		c.dead = true
	})
	// The daemon still finds the version's resources in the stale discovery document.
	s.Send(201, "POST", "/api/v1/namespaces", client.JSON, `{"metadata":{"name":"m"}}`)
	s.Send(200, "DELETE", "/api/v1/namespaces/m", "", "")
	s.wantNamespaceCondition("m", "NamespaceDeletionContentFailure", "True",
		"Failed to delete all resource types, 1 remaining: things.ext.example.com: the server returned status 503")
	s.Send(200, "DELETE", apiServices+"/v1.ext.example.com", "", "")
	s.wantGone("m")
}
