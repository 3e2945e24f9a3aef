package http

import (
	"reflect"
	"testing"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/selector"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authz"
)

func (s *Server) newTestRequest(t testing.TB, method, path string) *requestContext {
	t.Helper()
	x := &requestContext{}
	must.Succeed(t, x.target.Parse([]byte(path), []byte("x")))
	x.info.Parse(method, &x.target)
	s.setAttributes(x, &authn.User{Name: "jane"})
	return x
}

func newAuthorizingServer(t testing.TB) *Server {
	t.Helper()
	kinds := must.Get(catalog.New(meta.Platform))(t)
	return &Server{opts: Options{Catalog: kinds, Authorizer: authz.Union(authz.Masters{}, authz.AlwaysAllowPaths{"/healthz", "/healthz/*", "/livez", "/livez/*", "/readyz", "/readyz/*"}, authz.AlwaysAllow{})}}
}

func TestAttributes(t *testing.T) {
	const pods = "/api/v1/namespaces/x/pods"
	s := newAuthorizingServer(t)
	named := &authz.Selectors{Fields: []selector.Requirement{{Key: "metadata.name", Operator: "In", Values: []string{"a"}}}}
	for _, c := range []struct {
		method, path, verb, name string
		selectors                *authz.Selectors
	}{
		{"GET", pods, "list", "", nil},
		{"GET", pods + "?limit=5", "list", "", nil},
		{"GET", pods + "?fieldSelector=metadata.name%3Da", "list", "a", named},
		{"GET", pods + "?watch=1&fieldSelector=metadata.name%3Da", "watch", "a", named},
		{"DELETE", pods + "?fieldSelector=metadata.name%3Da", "deletecollection", "", named},
		{"GET", pods + "/b?fieldSelector=metadata.name%3Da", "get", "b", nil},
		{"GET", pods + "/b?watch=1&fieldSelector=metadata.name%3Da", "watch", "b", named},
		{"POST", pods + "?fieldSelector=metadata.name%3Da", "create", "", nil},
		{"GET", pods + "?fieldSelector=metadata.name%3D..", "list", "", &authz.Selectors{Fields: []selector.Requirement{{Key: "metadata.name", Operator: "In", Values: []string{".."}}}}},
		{"GET", pods + "?fieldSelector=bad&labelSelector=a%2C%2C", "list", "", nil},
		{"GET", pods + "?fieldSelector=bad&labelSelector=a", "list", "", &authz.Selectors{Labels: []selector.Requirement{{Key: "a", Operator: "Exists"}}}},
		{"GET", "/nowhere?fieldSelector=metadata.name%3Da", "get", "", nil},
	} {
		a := s.newTestRequest(t, c.method, c.path).attributes
		if a.Verb != c.verb || a.Name != c.name || !reflect.DeepEqual(a.Selectors, c.selectors) {
			t.Errorf("%s %s: got %+v with %+v", c.method, c.path, a, a.Selectors)
		}
	}
}

func TestAuthorizeAllocatesNothing(t *testing.T) {
	s := newAuthorizingServer(t)
	for _, path := range []string{"/api/v1/namespaces/x/pods/a", "/api/v1/pods?limit=5", "/metrics"} {
		x := s.newTestRequest(t, "GET", path)
		if n := testing.AllocsPerRun(100, func() {
			if err := s.authorize(x); err != nil {
				t.Error(err)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", path, n)
		}
	}
}

func BenchmarkAuthorize(b *testing.B) {
	s := newAuthorizingServer(b)
	x := s.newTestRequest(b, "GET", "/api/v1/namespaces/x/pods/a")
	b.ReportAllocs()
	for b.Loop() {
		must.Succeed(b, s.authorize(x))
	}
}
