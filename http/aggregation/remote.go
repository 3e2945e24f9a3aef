package aggregation

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/troupe-api/troupe/kinds/discovery"
	"github.com/troupe-api/troupe/policy/authn"
)

// A RemoteResource is a resource that a remote server lists in discovery.
type RemoteResource struct {
	discovery.GroupVersion
	Name       string // plural
	Namespaced bool
	Verbs      []string
}

// RemoteResources returns the last known resources of remote servers, sorted. unknown lists the
// versions whose servers do not respond or have not been queried yet.
func (s *Servers) RemoteResources() (all []RemoteResource, unknown []discovery.GroupVersion) {
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
	slices.SortFunc(unknown, func(a, b discovery.GroupVersion) int { return strings.Compare(a.Path(), b.Path()) })
	return all, unknown
}

// A RemoteRequest is a request from this server to a remote server. Path begins with the version's
// path.
type RemoteRequest struct {
	discovery.GroupVersion
	User                *authn.User // on whose behalf
	Method, Path, Query string
	Body                []byte // JSON; nil: none
}

const (
	remoteTimeout = 30 * time.Second
	// maxRemoteBytes limits the response to a RemoteRequest.
	maxRemoteBytes = 32 << 20
)

// Do sends a request and returns any response. The code is 404 if no remote server serves the
// version.
func (s *Servers) Do(ctx context.Context, r RemoteRequest) (code int, body []byte, err error) {
	server := s.Find(r.Group, r.Version)
	if server == nil {
		return http.StatusNotFound, nil, nil
	}
	a, err := server.backend.send(ctx, request{
		method: r.Method, path: r.Path, query: r.Query, body: r.Body, accept: "application/json", user: r.User,
		timeout: remoteTimeout, maxBytes: maxRemoteBytes,
	})
	if err != nil {
		return 0, nil, err
	}
	return a.code, a.body, nil
}
