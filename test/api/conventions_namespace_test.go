package api

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

// TestNamespacesAreApart: namespaces whose names begin alike, and those that stand beside them in any order, share nothing:
// not in lists, chunks, counts, watches, selections by field, or deletions of collections.
func TestNamespacesAreApart(t *testing.T) {
	t.Parallel()
	s := serveConventions(t, nil)
	namespaces := []string{"a", "a-b", "a0", "ab", "b"}
	for _, n := range namespaces {
		s.send(t, 201, http.MethodPost, "/api/v1/namespaces", client.JSON, client.Object{"metadata": map[string]any{"name": n}})
		for i := range 3 {
			s.create(t, "/api/v1/namespaces/"+n+"/configmaps", fmt.Sprint(n, "-", i), map[string]string{"x": "y"})
		}
	}
	names := func(path, query string) (found []string) {
		t.Helper()
		values, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		list, err := s.List(within(t), path, values)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range list.Items {
			found = append(found, o.Key())
		}
		return found
	}
	expect := func(what, namespace string, got, want []string) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("%s of %s: %v, want %v", what, namespace, got, want)
		}
	}
	for _, n := range namespaces {
		path := "/api/v1/namespaces/" + n + "/configmaps"
		var all []string
		for i := range 3 {
			all = append(all, fmt.Sprint(n, "/", n, "-", i))
		}
		expect("list", n, names(path, ""), all)
		expect("selection", n, names(path, "labelSelector=x%3Dy"), all)
		expect("name", n, names(path, "fieldSelector=metadata.name%3D"+n+"-1"), all[1:2])
		first := s.get(t, 200, path+"?limit=1").Object()
		if got := fmt.Sprint(first.Metadata()["remainingItemCount"]); got != "2" {
			t.Errorf("%s objects of %s remain, want 2", got, n)
		}
		token := url.QueryEscape(fmt.Sprint(first.Metadata()["continue"]))
		expect("rest", n, names(path, "continue="+token), all[1:])
	}
	s.send(t, 200, http.MethodDelete, "/api/v1/namespaces/a/configmaps", client.JSON, "{}")
	for _, n := range namespaces {
		want := 3
		if n == "a" {
			want = 0
		}
		if got := len(names("/api/v1/namespaces/"+n+"/configmaps", "")); got != want {
			t.Errorf("after the deletion in a, %s has %d objects, want %d", n, got, want)
		}
	}
}
