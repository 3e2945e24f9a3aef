package aggregation

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/troupe-api/troupe/kinds/openapi"
	"github.com/troupe-api/troupe/kinds/present"
	"github.com/troupe-api/troupe/policy/authn"
)

// openapiState is what a backend has said of its OpenAPI documents. It is immutable.
type openapiState struct {
	hashes   map[present.GroupVersion]string // of the documents of version 3, which are asked for when a client does
	old      bool                            // it has none of version 3
	document *openapi.Remote                 // of version 2; nil: none
	etag     string                          // of version 2
	prefixes string                          // of the paths of which document is about
	bytes    int64                           // that count against the bound of what is kept
}

const (
	openapiTimeout = 30 * time.Second
	// maxIndexBytes bounds the index of version 3 of one backend, maxOpenAPIBytes its document of version 2. That of
	// a server with all built-in kinds has 5 MiB.
	maxIndexBytes   = 1 << 20
	maxOpenAPIBytes = 16 << 20
)

var openapiPauses = pauses{answered: time.Minute, least: time.Second, most: 10 * time.Minute}

// aggregatorUser asks for the documents that every authenticated user may read.
const aggregatorUser = "system:aggregator"

// refreshOpenAPI asks the backend for its documents. What it has said before stays where it does not answer. A backend
// without documents is no failure.
func (b *backend) refreshOpenAPI(ctx context.Context) error {
	wanted := b.servers.versionsOf(b)
	before := b.openapi.Load()
	// A copy, since the state before is being read.
	next := *before
	err := b.askIndex(ctx, wanted, &next)
	// Both or none: a client that reads version 2 and one that reads version 3 are to see the same server.
	if err == nil {
		err = b.askDocument(ctx, wanted, &next)
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

// askIndex asks where the documents of version 3 are.
func (b *backend) askIndex(ctx context.Context, wanted []present.GroupVersion, next *openapiState) error {
	a, err := b.ask(ctx, question{
		path: "/openapi/v3", accept: "application/json", user: &authn.User{Name: aggregatorUser},
		timeout: openapiTimeout, maxBytes: maxIndexBytes,
	})
	if err != nil {
		return err
	}
	next.hashes, next.old = map[present.GroupVersion]string{}, a.code == http.StatusNotFound
	switch a.code {
	case http.StatusOK:
	case http.StatusNotFound:
		return nil
	default:
		return fmt.Errorf("it answers %d at /openapi/v3", a.code)
	}
	var index struct {
		Paths map[string]struct {
			ServerRelativeURL string `json:"serverRelativeURL"`
		} `json:"paths"`
	}
	if err := json.Unmarshal(a.body, &index); err != nil {
		return err
	}
	// The server chooses the URL; only its hash counts here, since clients are led to this server.
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

// askDocument asks for the document of version 2.
func (b *backend) askDocument(ctx context.Context, wanted []present.GroupVersion, next *openapiState) error {
	var prefixes []string
	for _, v := range wanted {
		prefixes = append(prefixes, v.Path()+"/")
	}
	q := question{
		path: "/openapi/v2", accept: "application/json", user: &authn.User{Name: aggregatorUser},
		timeout: openapiTimeout, maxBytes: maxOpenAPIBytes,
	}
	all := strings.Join(prefixes, " ")
	// What was left out of the document may be wanted now: then the ETag of it says nothing.
	if next.prefixes == all {
		q.etag = next.etag
	}
	a, err := b.ask(ctx, q)
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
		return fmt.Errorf("it answers %d at /openapi/v2", a.code)
	}
	// Parsed one at a time: each may take a hundred megabytes while that lasts.
	b.servers.parsing.Lock()
	next.document, err = openapi.ReadRemote(a.body, prefixes)
	b.servers.parsing.Unlock()
	if err != nil {
		return err
	}
	next.etag, next.prefixes, next.bytes = a.etag, all, int64(next.document.Size())
	return nil
}
