package aggregation

import (
	"context"
	"fmt"
	"mime"
	"net/http"
	"time"

	"github.com/troupe-api/troupe/kinds/present"
	"github.com/troupe-api/troupe/policy/authn"
)

// discoveryState is what a backend was last known to serve. It is immutable.
type discoveryState struct {
	versions map[present.GroupVersion]present.RemoteVersion
	etag     string // of the list of all versions; "" if the server has none
	current  bool   // the server has answered when it was last asked
	bytes    int64  // that count against the bound of what is kept
}

const (
	discoveryTimeout = 5 * time.Second
	// maxDiscoveryBytes bounds a discovery document of one backend. That of a server with a thousand kinds has 1 MiB.
	maxDiscoveryBytes = 4 << 20
)

var discoveryPauses = pauses{answered: time.Minute, least: time.Second, most: time.Minute}

// refreshDiscovery asks the backend what it serves. What it has said before stays where it does not answer.
func (b *backend) refreshDiscovery(ctx context.Context) error {
	// Versions that are registered meanwhile wake the backend once more.
	wanted := b.servers.versionsOf(b)
	next, err := b.askDiscovery(ctx, wanted)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	before := b.discovery.Load()
	// A document that does not fit is a failure like another one: what is known stays, and is marked.
	if err == nil && !b.servers.keep(next.bytes-before.bytes) {
		err = errKept
	}
	if err != nil {
		stale := *before
		stale.current = false
		stale.etag = "" // another version may be wanted by then
		next = &stale
	}
	b.discovery.Store(next)
	// Documents are made again by whoever asks next, which is not worth it for an answer that says the same.
	if before.current != next.current || !sameVersions(before, next) {
		b.servers.contentChanged()
	}
	return err
}

// askDiscovery asks for the list of all versions, and where there is none for the list of each that is wanted.
func (b *backend) askDiscovery(ctx context.Context, wanted []present.GroupVersion) (*discoveryState, error) {
	before := b.discovery.Load()
	n := b.servers.opts.Naming
	group := n.Group("apidiscovery")
	accept := func(version string) string {
		return "application/json;g=" + group + ";v=" + version + ";as=APIGroupDiscoveryList"
	}
	user := &authn.User{Name: n.Translate("system:platform-aggregator"), Groups: []string{authn.GroupMasters}}
	// A document of which only some versions were kept is no answer for others: then it is asked for without the ETag.
	etag := before.etag
	if !knowsAll(before, wanted) {
		etag = ""
	}
	a, err := b.ask(ctx, question{
		path: "/apis", accept: accept("v2") + "," + accept("v2beta1"), etag: etag, user: user,
		timeout: discoveryTimeout, maxBytes: maxDiscoveryBytes,
	})
	switch {
	case err != nil:
		return nil, err
	case a.code == http.StatusNotModified && etag != "":
		same := *before
		same.current = true
		return &same, nil
	// An answer that it is not ready is no answer about what it serves; any other one may mean that it is too old
	// for the list of all versions.
	case a.code == http.StatusServiceUnavailable:
		return nil, fmt.Errorf("it answers %d", a.code)
	case a.code == http.StatusOK && isGroupList(a.contentType, group):
		versions, err := present.ReadDiscovery(a.body, func(v present.GroupVersion) bool { return contains(wanted, v) })
		return &discoveryState{versions: versions, etag: a.etag, current: true, bytes: int64(len(a.body))}, err
	}
	return b.askResourceLists(ctx, wanted, user)
}

// isGroupList tells whether a content type is that of a list of all versions.
func isGroupList(contentType, group string) bool {
	mediaType, parameters, err := mime.ParseMediaType(contentType)
	return err == nil && mediaType == "application/json" && parameters["as"] == "APIGroupDiscoveryList" && parameters["g"] == group &&
		(parameters["v"] == "v2" || parameters["v"] == "v2beta1")
}

// askResourceLists asks for what is served in each version.
func (b *backend) askResourceLists(ctx context.Context, wanted []present.GroupVersion, user *authn.User) (*discoveryState, error) {
	next := &discoveryState{versions: map[present.GroupVersion]present.RemoteVersion{}, current: true}
	// The bound is for all versions of a backend together.
	for _, v := range wanted {
		a, err := b.ask(ctx, question{
			path: v.Path(), accept: "application/json", user: user, timeout: discoveryTimeout, maxBytes: maxDiscoveryBytes - next.bytes,
		})
		if err != nil {
			return nil, err
		}
		if a.code != http.StatusOK {
			return nil, fmt.Errorf("it answers %d at %s", a.code, v.Path())
		}
		if next.versions[v], err = present.ReadResourceList(a.body); err != nil {
			return nil, err
		}
		next.bytes += int64(len(a.body))
	}
	return next, nil
}

// knowsAll tells whether a state has all of the versions.
func knowsAll(d *discoveryState, versions []present.GroupVersion) bool {
	for _, v := range versions {
		if _, ok := d.versions[v]; !ok {
			return false
		}
	}
	return true
}

// sameVersions tells whether two states say the same of the same versions.
func sameVersions(a, b *discoveryState) bool {
	if len(a.versions) != len(b.versions) {
		return false
	}
	for name, v := range a.versions {
		other, ok := b.versions[name]
		if !ok || string(v.Document(name.Version, present.Current)) != string(other.Document(name.Version, present.Current)) {
			return false
		}
	}
	return true
}
