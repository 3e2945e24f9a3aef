package aggregation

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/troupe-api/troupe/kinds/present"
	"github.com/troupe-api/troupe/policy/authn"
)

// A RemoteResource is a resource that another server serves.
type RemoteResource struct {
	present.GroupVersion
	Name       string // plural
	Namespaced bool
	Verbs      []string
}

// RemoteResources are what other servers have said last that they serve, in order, and the versions of which it is not known
// now, because their server does not answer or was not asked yet.
func (s *Servers) RemoteResources() (all []RemoteResource, unknown []present.GroupVersion) {
	for of, server := range s.current.Load().remote {
		d := server.backend.discovery.Load()
		if !d.current {
			unknown = append(unknown, of)
		}
		d.versions[of].Resources(func(name string, namespaced bool, verbs []string) {
			all = append(all, RemoteResource{of, name, namespaced, verbs})
		})
	}
	slices.SortFunc(all, func(a, b RemoteResource) int {
		return cmp.Or(strings.Compare(a.Path(), b.Path()), strings.Compare(a.Name, b.Name))
	})
	slices.SortFunc(unknown, func(a, b present.GroupVersion) int { return strings.Compare(a.Path(), b.Path()) })
	return all, unknown
}

// A RemoteRequest is a request of this server itself. Path begins with that of the version.
type RemoteRequest struct {
	present.GroupVersion
	User                *authn.User // as whom it is made
	Method, Path, Query string
	Body                []byte // JSON; nil: none
}

const (
	remoteTimeout = 30 * time.Second
	// maxRemoteBytes bounds an answer to a request of this server itself.
	maxRemoteBytes = 32 << 20
)

// Do makes a request. An error says that there is no answer; a version that no other server serves is answered 404.
func (s *Servers) Do(ctx context.Context, r RemoteRequest) (code int, body []byte, err error) {
	server := s.Find(r.Group, r.Version)
	if server == nil {
		return http.StatusNotFound, nil, nil
	}
	a, err := server.backend.ask(ctx, question{
		method: r.Method, path: r.Path, query: r.Query, body: r.Body, accept: "application/json", user: r.User,
		timeout: remoteTimeout, maxBytes: maxRemoteBytes,
	})
	if err != nil {
		return 0, nil, err
	}
	return a.code, a.body, nil
}
