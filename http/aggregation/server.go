package aggregation

import (
	"net/http"
	"net/url"

	"github.com/troupe-api/troupe/http/internal/proxy"
	"github.com/troupe-api/troupe/kinds/condition"
	"github.com/troupe-api/troupe/policy/authn"
)

// A Server is the server of one version of a group. It never changes.
type Server struct {
	APIService
	name    string
	backend *backend
}

// Available tells whether the server was found to answer when it was last asked.
//
// The APIService is looked at itself before the answer is no: who has just read that it is available is not to be told
// otherwise.
func (s *Server) Available() bool {
	if s.available {
		return true
	}
	servers := s.backend.servers
	o := servers.objects.Get(servers.Resource(), "", s.name)
	return o != nil && condition.IsTrue(o.Tree.Object("status"), "Available")
}

// Fault is why the server cannot be reached at all; nil if it may be.
func (s *Server) Fault() error { return s.backend.fault }

// Target is where a request goes that a user makes. The path is decoded.
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
