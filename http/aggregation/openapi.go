package aggregation

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/troupe-api/troupe/kinds/discovery"
	"github.com/troupe-api/troupe/kinds/openapi"
	"github.com/troupe-api/troupe/policy/authn"
)

// openapiState is the last known OpenAPI of a backend. It is immutable.
type openapiState struct {
	hashes   map[discovery.GroupVersion]string // of v3 documents, fetched on demand
	old      bool                              // the server has no v3
	document *openapi.Remote                   // v2; nil: none
	etag     string                            // of v2
	prefixes string                            // the paths included in document
	bytes    int64                             // counted against maxKept
}

const (
	openapiTimeout = 30 * time.Second
	// maxIndexBytes limits a backend's v3 index, and maxOpenAPIBytes its v2 document. A v2 document
	// for all built-in kinds is 5 MiB.
	maxIndexBytes   = 1 << 20
	maxOpenAPIBytes = 16 << 20
)

var openapiIntervals = intervals{success: time.Minute, initial: time.Second, limit: 10 * time.Minute}

// aggregatorUser is the user for fetching documents that every authenticated user may read.
const aggregatorUser = "system:aggregator"

// refreshOpenAPI updates the backend's OpenAPI. On failure, it keeps the old documents. A server
// without OpenAPI is not a failure.
func (b *backend) refreshOpenAPI(ctx context.Context) error {
	wanted := b.servers.versionsOf(b)
	before := b.openapi.Load()
	// Copy the state, because readers use the old one.
	next := *before
	err := b.fetchIndex(ctx, wanted, &next)
	// Replace v2 and v3 together, so that they are consistent.
	if err == nil {
		err = b.fetchDocument(ctx, wanted, &next)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return err
	}
	if !b.servers.keep(next.bytes - before.bytes) {
		return errKept
	}
	b.openapi.Store(&next)
	if !next.same(before) {
		b.servers.contentChanged()
	}
	return nil
}

func (o *openapiState) same(other *openapiState) bool {
	if o.old != other.old || len(o.hashes) != len(other.hashes) || (o.document == nil) != (other.document == nil) {
		return false
	}
	for v, hash := range o.hashes {
		if other.hashes[v] != hash {
			return false
		}
	}
	return o.document == nil || o.document.Hash() == other.document.Hash()
}

func (b *backend) fetchIndex(ctx context.Context, wanted []discovery.GroupVersion, next *openapiState) error {
	a, err := b.send(ctx, request{
		path: "/openapi/v3", accept: "application/json", user: &authn.User{Name: aggregatorUser},
		timeout: openapiTimeout, maxBytes: maxIndexBytes,
	})
	if err != nil {
		return err
	}
	next.hashes, next.old = map[discovery.GroupVersion]string{}, a.code == http.StatusNotFound
	switch a.code {
	case http.StatusOK:
	case http.StatusNotFound:
		return nil
	default:
		return fmt.Errorf("it returned status %d at /openapi/v3", a.code)
	}
	var index struct {
		Paths map[string]struct {
			ServerRelativeURL string `json:"serverRelativeURL"`
		} `json:"paths"`
	}
	if err := json.Unmarshal(a.body, &index); err != nil {
		return err
	}
	// Keep only the hash of each URL, because clients receive URLs of this server.
	for _, v := range wanted {
		at, ok := index.Paths[strings.TrimPrefix(v.Path(), "/")]
		if !ok {
			continue
		}
		u, err := url.Parse(at.ServerRelativeURL)
		if err != nil {
			return err
		}
		next.hashes[v] = u.Query().Get("hash")
	}
	return nil
}

func (b *backend) fetchDocument(ctx context.Context, wanted []discovery.GroupVersion, next *openapiState) error {
	var prefixes []string
	for _, v := range wanted {
		prefixes = append(prefixes, v.Path()+"/")
	}
	q := request{
		path: "/openapi/v2", accept: "application/json", user: &authn.User{Name: aggregatorUser},
		timeout: openapiTimeout, maxBytes: maxOpenAPIBytes,
	}
	all := strings.Join(prefixes, " ")
	// The old document contains only the paths in next.prefixes, so its ETag is usable only for
	// the same paths.
	if next.prefixes == all {
		q.etag = next.etag
	}
	a, err := b.send(ctx, q)
	if err != nil {
		return err
	}
	switch {
	case a.code == http.StatusNotModified && q.etag != "":
		return nil
	case a.code == http.StatusNotFound:
		next.document, next.etag, next.bytes = nil, "", 0
		return nil
	case a.code != http.StatusOK:
		return fmt.Errorf("it returned status %d at /openapi/v2", a.code)
	}
	// Parse only one document at a time, because parsing may take 100 MB.
	b.servers.parsing.Lock()
	next.document, err = openapi.ReadRemote(a.body, prefixes)
	b.servers.parsing.Unlock()
	if err != nil {
		return err
	}
	next.etag, next.prefixes, next.bytes = a.etag, all, int64(next.document.Size())
	return nil
}
