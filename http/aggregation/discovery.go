package aggregation

import (
	"context"
	"fmt"
	"mime"
	"net/http"
	"time"

	"github.com/troupe-api/troupe/kinds/discovery"
	"github.com/troupe-api/troupe/policy/authn"
)

// discoveryState is the last known discovery of a backend. It is immutable.
type discoveryState struct {
	versions map[discovery.GroupVersion]discovery.RemoteVersion
	etag     string // ETag of the list of all versions, or ""
	current  bool   // the last refresh has succeeded
	bytes    int64  // counted against maxKept
}

const (
	discoveryTimeout = 5 * time.Second
	// maxDiscoveryBytes limits a backend's discovery document. A document with 1000 kinds is 1 MiB.
	maxDiscoveryBytes = 4 << 20
)

var discoveryIntervals = intervals{success: time.Minute, initial: time.Second / 2, limit: time.Minute}

// refreshDiscovery updates the backend's discovery. After a failure, it keeps the previous
// discovery and marks it as stale.
func (b *backend) refreshDiscovery(ctx context.Context) error {
	// If a version is registered during the refresh, another refresh follows.
	wanted := b.servers.versionsOf(b)
	next, err := b.fetchDiscovery(ctx, wanted)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	before := b.discovery.Load()
	if err == nil && !b.servers.keep(next.bytes-before.bytes) {
		err = errKept
	}
	if err != nil {
		stale := *before
		stale.current = false
		stale.etag = "" // other versions may be wanted next time
		next = &stale
	}
	b.discovery.Store(next)
	if before.current != next.current || !sameVersions(before, next) {
		b.servers.contentChanged()
	}
	return err
}

// fetchDiscovery requests aggregated discovery. If the server does not support it, fetchDiscovery
// requests the resource list of each wanted version.
func (b *backend) fetchDiscovery(ctx context.Context, wanted []discovery.GroupVersion) (*discoveryState, error) {
	before := b.discovery.Load()
	n := b.servers.opts.Naming
	group := n.Group("apidiscovery")
	user := &authn.User{Name: n.Translate("system:platform-aggregator"), Groups: []string{authn.GroupMasters}}
	// The previous document may lack versions that have been registered since. Send its ETag only
	// if it contains all wanted versions.
	etag := before.etag
	if !hasAll(before, wanted) {
		etag = ""
	}
	a, err := b.send(ctx, request{
		path: "/apis", accept: "application/json;g=" + group + ";v=v2;as=APIGroupDiscoveryList", etag: etag, user: user,
		timeout: discoveryTimeout, maxBytes: maxDiscoveryBytes,
	})
	switch {
	case err != nil:
		return nil, err
	case a.code == http.StatusNotModified && etag != "":
		same := *before
		same.current = true
		return &same, nil
	// After a 503, the served versions are unknown. Other codes may mean that the server is too
	// old for aggregated discovery.
	case a.code == http.StatusServiceUnavailable:
		return nil, fmt.Errorf("it returned status %d", a.code)
	case a.code == http.StatusOK && isGroupList(a.contentType, group):
		versions, err := discovery.ReadDiscovery(a.body, func(v discovery.GroupVersion) bool { return contains(wanted, v) })
		return &discoveryState{versions: versions, etag: a.etag, current: true, bytes: int64(len(a.body))}, err
	}
	return b.fetchResourceLists(ctx, wanted, user)
}

func isGroupList(contentType, group string) bool {
	mediaType, parameters, err := mime.ParseMediaType(contentType)
	return err == nil && mediaType == "application/json" && parameters["as"] == "APIGroupDiscoveryList" && parameters["g"] == group &&
		parameters["v"] == "v2"
}

func (b *backend) fetchResourceLists(ctx context.Context, wanted []discovery.GroupVersion, user *authn.User) (*discoveryState, error) {
	next := &discoveryState{versions: map[discovery.GroupVersion]discovery.RemoteVersion{}, current: true}
	// The limit applies to all versions together.
	for _, v := range wanted {
		a, err := b.send(ctx, request{
			path: v.Path(), accept: "application/json", user: user, timeout: discoveryTimeout, maxBytes: maxDiscoveryBytes - next.bytes,
		})
		if err != nil {
			return nil, err
		}
		if a.code != http.StatusOK {
			return nil, fmt.Errorf("it returned status %d at %s", a.code, v.Path())
		}
		if next.versions[v], err = discovery.ReadResourceList(a.body); err != nil {
			return nil, err
		}
		next.bytes += int64(len(a.body))
	}
	return next, nil
}

func hasAll(d *discoveryState, versions []discovery.GroupVersion) bool {
	for _, v := range versions {
		if _, ok := d.versions[v]; !ok {
			return false
		}
	}
	return true
}

func sameVersions(a, b *discoveryState) bool {
	if len(a.versions) != len(b.versions) {
		return false
	}
	for name, v := range a.versions {
		other, ok := b.versions[name]
		if !ok || string(v.Document(name.Version, discovery.Current)) != string(other.Document(name.Version, discovery.Current)) {
			return false
		}
	}
	return true
}
