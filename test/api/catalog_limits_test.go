package api

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

type catalogTree = map[string]any

func times(n int, element func(i int) any) []any {
	list := make([]any, n)
	for i := range list {
		list[i] = element(i)
	}
	return list
}

func address(i int) any { return fmt.Sprintf("10.1.%d.%d", i/250, i%250+1) }

func slice(change catalogTree) catalogTree {
	return mergeCatalog(catalogTree{"addressType": "IPv4", "endpoints": []any{}}, change)
}

// TestLimits checks that objects whose size or count is exactly at a limit are accepted, and that
// larger ones are rejected with a field error.
func TestLimits(t *testing.T) {
	t.Parallel()
	s := client.Serve(t, t.TempDir(), nil)
	endpoints := func(n int) catalogTree {
		return slice(catalogTree{"endpoints": times(n, func(i int) any { return catalogTree{"addresses": []any{address(i)}} })})
	}
	addresses := func(n int) catalogTree {
		return slice(catalogTree{"endpoints": []any{catalogTree{"addresses": times(n, address)}}})
	}
	ports := func(n int) catalogTree {
		return slice(catalogTree{"ports": times(n, func(i int) any { return catalogTree{"name": fmt.Sprint("p", i), "port": i + 1} })})
	}
	portName := func(n int) catalogTree {
		return slice(catalogTree{"ports": []any{catalogTree{"name": strings.Repeat("a", n), "port": 1}}})
	}
	controller := func(n int) catalogTree {
		return catalogTree{"spec": catalogTree{"controller": "example.com/" + strings.Repeat("a", n-len("example.com/"))}}
	}
	text := func(n int) catalogTree { return catalogTree{"data": catalogTree{"a": strings.Repeat("x", n)}} }
	plain := func(n int) catalogTree { return catalogTree{"stringData": catalogTree{"a": strings.Repeat("x", n)}} }
	const (
		core    = "/api/v1/namespaces/default/"
		slices  = "/apis/discovery.platform.io/v1/namespaces/default/endpointslices"
		classes = "/apis/networking.platform.io/v1/ingressclasses"
	)
	for _, c := range []struct {
		name, path  string
		object      func(n int) catalogTree
		least, most int
		field       string
		reason      string // reason in the field error beyond the limit
	}{
		{"Secret data", core + "secrets", plain, 0, 1 << 20, "data", "FieldValueTooLong"},
		{"ConfigMap data", core + "configmaps", text, 0, 1 << 20, "[]", "FieldValueTooLong"},
		{"EndpointSlice endpoints", slices, endpoints, 0, 1000, "endpoints", "FieldValueTooMany"},
		{"EndpointSlice addresses", slices, addresses, 1, 100, "endpoints[0].addresses", "FieldValueTooMany"},
		{"EndpointSlice ports", slices, ports, 0, 100, "ports", "FieldValueTooMany"},
		{"EndpointSlice port name", slices, portName, 0, 63, "ports[0].name", "FieldValueInvalid"},
		{"IngressClass controller", classes, controller, 13, 250, "spec.controller", "FieldValueTooLong"},
	} {
		t.Run(c.name, func(t *testing.T) {
			create := func(n int) client.Answer {
				name := strings.ToLower(strings.ReplaceAll(fmt.Sprint(c.name, n), " ", "-"))
				a, err := s.Create(t.Context(), c.path, mergeCatalog(c.object(n), catalogTree{"metadata": catalogTree{"name": name}}))
				if err != nil {
					t.Fatal(err)
				}
				return a
			}
			for _, n := range []int{c.least, c.most} {
				if a := create(n); a.Code != http.StatusCreated {
					t.Errorf("%d: %.300s", n, a)
				}
			}
			a := create(c.most + 1)
			got := refusal(a.Object())
			if a.Code != http.StatusUnprocessableEntity || len(got) != 1 || !strings.HasPrefix(got[0], "  "+c.field+" "+c.reason+":") {
				t.Errorf("%d: %d %.300v, want %s %s", c.most+1, a.Code, got, c.field, c.reason)
			}
		})
	}
}
