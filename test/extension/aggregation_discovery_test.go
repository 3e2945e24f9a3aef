package extension

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

const aggregatedType = "application/json;g=apidiscovery.platform.io;v=v2;as=APIGroupDiscoveryList"

type groupList struct {
	Items []struct {
		Metadata struct{ Name string }
		Versions []struct {
			Version, Freshness string
			Resources          []struct {
				Resource, Scope, SingularResource string
				ResponseKind                      struct{ Group, Version, Kind string }
				Verbs, ShortNames                 []string
				Subresources                      []struct {
					Subresource  string
					ResponseKind struct{ Group, Version, Kind string }
				}
			}
		}
	}
}

func (s aggregationSession) discover(accept string) (d groupList, etag string) {
	s.T.Helper()
	a, err := s.GetAs(s.Ctx, "/apis", accept)
	if err != nil || a.Code != 200 || a.Header.Get("Content-Type") != accept {
		s.T.Fatalf("%v %v %v", a, err, a.Header)
	}
	client.Decode(s.T, a.Body, &d)
	return d, a.Header.Get("ETag")
}

// text summarizes the versions, freshness and resources of a group in a discovery document.
func (d groupList) text(group string) string {
	var b strings.Builder
	for _, g := range d.Items {
		if g.Metadata.Name != group {
			continue
		}
		for _, v := range g.Versions {
			fmt.Fprintf(&b, "%s %s", v.Version, v.Freshness)
			for _, r := range v.Resources {
				fmt.Fprintf(&b, " %s(%s %s %s %v)", r.Resource, r.Scope, r.ResponseKind.Kind, r.SingularResource, r.ShortNames)
				for _, sub := range r.Subresources {
					fmt.Fprintf(&b, "/%s(%s/%s %s)", sub.Subresource, sub.ResponseKind.Group, sub.ResponseKind.Version, sub.ResponseKind.Kind)
				}
			}
			b.WriteString("; ")
		}
	}
	return strings.TrimSuffix(b.String(), "; ")
}

func (s aggregationSession) wantDiscovery(group, want string) {
	s.T.Helper()
	client.Eventually(s.T, func() error {
		d, _ := s.discover(aggregatedType)
		if got := d.text(group); got != want {
			return fmt.Errorf("%s is %q, want %q", group, got, want)
		}
		return nil
	})
}

const things = "things(Namespaced Thing thing [th])/scale(autoscaling/v1 Scale)"

// TestLegacyDiscovery checks that the daemon fetches the discovery document of each version
// separately if a server lacks aggregated discovery.
func TestLegacyDiscovery(t *testing.T) {
	t.Parallel()
	b := startBackend(t, nil)
	s := openAggregation(t, b.address(), nil)
	_, before := s.discover(aggregatedType)
	s.register(b, "ext.example.com", "v1")
	s.wantDiscovery("ext.example.com", "v1 Current "+things)
	d, after := s.discover(aggregatedType)
	if before == after {
		t.Error("another document has the same ETag")
	}
	if last := d.Items[len(d.Items)-1].Metadata.Name; last != "ext.example.com" {
		t.Errorf("the last group is %s", last)
	}
	if a := s.Send(200, "GET", "/apis/ext.example.com", "", ""); strings.TrimSpace(string(a.Body)) != `{"kind":"APIGroup","apiVersion":"v1","name":"ext.example.com","versions":[{"groupVersion":"ext.example.com/v1","version":"v1"}],"preferredVersion":{"groupVersion":"ext.example.com/v1","version":"v1"}}` {
		t.Errorf("the group is %s", a)
	}
	if a := s.Send(200, "GET", "/apis/ext.example.com/v1", "", ""); !strings.Contains(string(a.Body), `"things/scale"`) {
		t.Errorf("the resources are %s", a)
	}
	if a := s.Send(200, "GET", "/", "", ""); !strings.Contains(string(a.Body), `"/apis/ext.example.com","/apis/ext.example.com/v1"`) {
		t.Errorf("the paths are %s", a)
	}
	s.Send(200, "DELETE", apiServices+"/v1.ext.example.com", "", "")
	s.wantDiscovery("ext.example.com", "")
	if _, again := s.discover(aggregatedType); again != before {
		t.Error("the document is not what it was before")
	}
	s.Send(404, "GET", "/apis/ext.example.com", "", "")
}

// TestAggregatedDiscovery checks that one request fetches the discovery document for all versions
// of a server, and that it is kept up to date. If the server fails, the document is kept and marked
// stale. Unregistered groups and versions are hidden.
func TestAggregatedDiscovery(t *testing.T) {
	t.Parallel()
	kind := make(chan string, 1)
	kind <- "Gadget"
	b := startBackend(t, func(w http.ResponseWriter, r *http.Request) bool {
		now := <-kind
		kind <- now
		if now == "" {
			http.Error(w, "out of order", http.StatusServiceUnavailable)
			return true
		}
		if r.URL.Path != "/apis" {
			return false
		}
		if r.Header.Get("Accept") != aggregatedType {
			t.Errorf("it is asked for %q", r.Header.Get("Accept"))
		}
		w.Header().Set("Etag", `"`+now+`"`)
		if r.Header.Get("If-None-Match") == `"`+now+`"` {
			w.WriteHeader(http.StatusNotModified)
			return true
		}
		w.Header().Set("Content-Type", aggregatedType)
		resource := `{"resource":"gadgets","responseKind":{"group":"","version":"","kind":"` + now + `"},"scope":"Cluster","singularResource":"gadget","verbs":["list"],"unknown":1}`
		fmt.Fprintf(w, `{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.platform.io/v2","metadata":{},"items":[
			{"metadata":{"name":"ext.example.com"},"versions":[{"version":"v2","resources":[%s],"freshness":"Current"},{"version":"v1","resources":[],"freshness":"Current"},{"version":"v0","resources":[]}]},
			{"metadata":{"name":"apps"},"versions":[{"version":"v1","resources":[%[1]s]}]}]}`, resource)
		return true
	})
	s := openAggregation(t, b.address(), nil)
	s.register(b, "ext.example.com", "v1")
	s.register(b, "ext.example.com", "v2")
	s.wantDiscovery("ext.example.com", "v2 Current gadgets(Cluster Gadget gadget []); v1 Current")
	if d, _ := s.discover(aggregatedType); strings.Contains(d.text("apps"), "gadgets") || strings.Contains(d.text("ext.example.com"), "v0") {
		t.Error("it shows unregistered groups or versions")
	}
	<-kind
	kind <- "Widget"
	s.Send(200, "PATCH", apiServices+"/v2.ext.example.com", client.MergePatch, `{"spec":{"versionPriority":5}}`)
	s.wantDiscovery("ext.example.com", "v1 Current; v2 Current gadgets(Cluster Widget gadget [])")
	<-kind
	kind <- ""
	s.Send(200, "PATCH", apiServices+"/v2.ext.example.com", client.MergePatch, `{"spec":{"versionPriority":6}}`)
	s.wantDiscovery("ext.example.com", "v1 Stale; v2 Stale gadgets(Cluster Widget gadget [])")
}

// TestLyingServers checks that invalid and endless discovery documents are rejected without
// affecting other groups.
func TestLyingServers(t *testing.T) {
	t.Parallel()
	endless := func(w http.ResponseWriter, r *http.Request) {
		piece := []byte(strings.Repeat(`{"a":[`, 1000))
		for r.Context().Err() == nil {
			if _, err := w.Write(piece); err != nil {
				return
			}
		}
	}
	for name, lie := range map[string]http.HandlerFunc{
		"endless": endless,
		"nested":  func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, strings.Repeat("[", 1<<20)) },
		"types": func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, `{"kind":"APIGroupDiscoveryList","swagger":"2.0","items":[{"metadata":7}],"paths":7,"resources":{}}`)
		},
		"empty": func(http.ResponseWriter, *http.Request) {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := startBackend(t, func(w http.ResponseWriter, r *http.Request) bool {
				asked := r.URL.Path == "/apis" || strings.HasPrefix(r.URL.Path, "/openapi/") || strings.Count(r.URL.Path, "/") == 3 && r.Header.Get("Accept") != ""
				if asked {
					w.Header().Set("Content-Type", aggregatedType)
					lie(w, r)
				}
				return asked
			})
			s := openAggregation(t, b.address(), nil)
			s.register(b, "ext.example.com", "v1")
			client.Eventually(t, func() error {
				if b.last("/openapi/") == nil || b.last("/apis") == nil {
					return fmt.Errorf("it was not asked yet")
				}
				return nil
			})
			s.wantDiscovery("ext.example.com", "v1 Stale")
			if d, _ := s.discover(aggregatedType); !strings.Contains(d.text("apps"), "v1 Current") {
				t.Error("the other groups are not there")
			}
			s.Send(200, "GET", "/openapi/v2", "", "")
		})
	}
}

// TestAggregationOrder checks that groups and versions are ordered by the priorities of all
// APIServices, including local ones.
func TestAggregationOrder(t *testing.T) {
	t.Parallel()
	b := startBackend(t, nil)
	s := openAggregation(t, b.address(), nil)
	s.register(b, "low.example.com", "v1")
	s.Send(201, "POST", apiServices, client.JSON, strings.Replace(apiService("high.example.com", "v1", `,"insecureSkipTLSVerify":true`), `"groupPriorityMinimum":100`, `"groupPriorityMinimum":20000`, 1))
	client.Eventually(t, func() error {
		if a, err := s.Get(s.Ctx, apiServices+"/v1.batch"); err != nil || a.Code != 200 {
			return fmt.Errorf("%v, %v", a, err)
		}
		return nil
	})
	s.Send(200, "PATCH", apiServices+"/v1.batch", client.MergePatch, `{"spec":{"groupPriorityMinimum":50}}`)
	var list struct{ Groups []struct{ Name string } }
	client.Decode(t, s.Send(200, "GET", "/apis", "", "").Body, &list)
	var plain, aggregated []string
	for _, g := range list.Groups {
		plain = append(plain, g.Name)
	}
	d, _ := s.discover(aggregatedType)
	for _, g := range d.Items {
		aggregated = append(aggregated, g.Metadata.Name)
	}
	if !slices.Equal(plain, aggregated) {
		t.Errorf("one document has %v, the other %v", plain, aggregated)
	}
	if !slices.Equal(plain[:3], []string{"apiregistration.platform.io", "high.example.com", "apps"}) ||
		!slices.Equal(plain[len(plain)-2:], []string{"low.example.com", "batch"}) {
		t.Errorf("the order is %v", plain)
	}
}
