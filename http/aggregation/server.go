package aggregation

import (
	"net/http"
	"net/url"

	"github.com/troupe-api/troupe/http/internal/proxy"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/authn"
)

// A Server is the remote server of a version. It is immutable.
type Server struct {
	APIService
	name    string
	backend *backend
}

// Available reports whether the last probe succeeded.
//
// Before it returns false, it reads the current APIService, so that a client that has seen the
// APIService become available gets no error.
func (s *Server) Available() bool {
	if s.available {
		return true
	}
	servers := s.backend.servers
	o := servers.objects.Get(servers.Resource(), "", s.name)
	return o != nil && tree.IsConditionTrue(o.Tree.Object("status"), "Available")
}

// Fault returns the configuration error that makes the server unreachable, or nil.
func (s *Server) Fault() error { return s.backend.fault }

// Target returns the proxy target for a request by a user. path is unescaped.
func (s *Server) Target(u *authn.User, path, query, auditID string) *proxy.Target {
	servers := s.backend.servers
	return &proxy.Target{
		URL:             &url.URL{Scheme: "https", Host: s.backend.address.hostPort(), Path: path, RawQuery: query},
		Backend:         s.backend.proxy,
		UseHost:         true,
		RefuseRedirects: !servers.opts.PassRedirects,
		EditHeader: func(h http.Header) {
			servers.opts.Identity.identify(h, u)
			h.Set("Audit-Id", auditID)
		},
	}
}
