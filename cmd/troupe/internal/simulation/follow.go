package simulation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"time"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/rest"
)

type objectChange struct {
	gone   bool
	object json.RawMessage // the last state of a deleted object; nil if the deletion was missed
	key    objectKey
}

type objectKey struct{ namespace, name string }

func (k objectKey) String() string {
	if k.namespace == "" {
		return k.name
	}
	return k.namespace + "/" + k.name
}

// A follower reports all objects of a resource, and then every change. After 410 Gone, it reports
// all objects again, and all missed deletions. If the server does not send initial watch events,
// like a kube-apiserver with etcd 3.4, it lists the objects.
type follower struct {
	client *rest.Client
	path   string
	query  url.Values
	apply  func(objectChange) // called by one goroutine only
	synced func()             // called once, after all objects have been reported

	lists   bool               // the server sends no initial events
	version string             // where the watch resumes; "" to start over
	known   map[objectKey]bool // reported objects that exist
	seen    map[objectKey]bool // objects among the initial events; nil after those
}

// run follows the resource until ctx ends, and reconnects after errors.
func (f *follower) run(ctx context.Context, log *slog.Logger) {
	f.known = map[objectKey]bool{}
	for ctx.Err() == nil {
		started := time.Now()
		err := f.watch(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			log.Debug("a watch ended", "path", f.path, "error", err)
		}
		if time.Since(started) < time.Second { // do not retry in a tight loop
			pause(ctx, 200*time.Millisecond)
		}
	}
}

func (f *follower) watch(ctx context.Context) error {
	query := maps.Clone(f.query)
	query.Set("watch", "true")
	query.Set("allowWatchBookmarks", "true")
	if f.version == "" && f.lists {
		if err := f.list(ctx); err != nil {
			return err
		}
	}
	if f.version == "" {
		query.Set("sendInitialEvents", "true")
		query.Set("resourceVersionMatch", "NotOlderThan")
		f.seen = map[objectKey]bool{}
	} else {
		query.Set("resourceVersion", f.version)
	}
	err := f.client.Watch(ctx, f.path, query, "", f.take)
	var answer *rest.StatusError
	switch {
	case rest.IsExpired(err):
		f.version = ""
	case f.version == "" && errors.As(err, &answer):
		f.lists = true
	}
	return err
}

const listSize = "1000"

func (f *follower) list(ctx context.Context) error {
	f.seen = map[objectKey]bool{}
	query := maps.Clone(f.query)
	query.Set("limit", listSize)
	for {
		answer, err := f.client.Do(ctx, rest.Request{Method: http.MethodGet, Path: f.path, Query: query})
		if err != nil {
			return err
		}
		var part struct {
			Metadata struct {
				ResourceVersion, Continue string
			}
			Items []json.RawMessage
		}
		if err := json.Unmarshal(answer.Body, &part); err != nil {
			return err
		}
		for _, object := range part.Items {
			if err := f.take(rest.Event{Type: "ADDED", Object: object}); err != nil {
				return err
			}
		}
		if query.Set("continue", part.Metadata.Continue); part.Metadata.Continue == "" {
			f.sweep()
			f.version = part.Metadata.ResourceVersion
			return nil
		}
	}
}

type head struct {
	Metadata struct {
		Namespace, Name, ResourceVersion string
	}
}

func (f *follower) take(e rest.Event) error {
	var h head
	if err := json.Unmarshal(e.Object, &h); err != nil {
		return err
	}
	k := objectKey{h.Metadata.Namespace, h.Metadata.Name}
	switch e.Type {
	case "BOOKMARK":
		if f.seen != nil { // the first bookmark ends the initial events
			f.sweep()
		}
	case "ADDED", "MODIFIED":
		f.known[k] = true
		if f.seen != nil {
			f.seen[k] = true
		}
		f.apply(objectChange{object: e.Object, key: k})
	case "DELETED":
		delete(f.known, k)
		f.apply(objectChange{gone: true, object: e.Object, key: k})
	default:
		return fmt.Errorf("an event of the unknown type %q", e.Type)
	}
	if f.seen == nil { // the versions of initial events are not ordered
		f.version = h.Metadata.ResourceVersion
	}
	return nil
}

// sweep reports deletions that were missed while the watch was down.
func (f *follower) sweep() {
	for k := range f.known {
		if !f.seen[k] {
			delete(f.known, k)
			f.apply(objectChange{gone: true, key: k})
		}
	}
	f.seen = nil
	if f.synced != nil {
		f.synced()
		f.synced = nil
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d + rand.N(d)):
	}
}

func retry(ctx context.Context, send func() error) error {
	for d := 50 * time.Millisecond; ; d = min(2*d, 2*time.Second) {
		err := send()
		var answer *rest.StatusError
		if err == nil || ctx.Err() != nil || errors.As(err, &answer) && answer.Code != http.StatusTooManyRequests && answer.Code != http.StatusConflict && answer.Code < 500 {
			return err
		}
		pause(ctx, d)
	}
}

// send sends body as JSON and returns the response body. body may be nil.
func (c *Cluster) send(ctx context.Context, method, path, contentType string, body any) ([]byte, error) {
	r := rest.Request{Method: method, Path: path, ContentType: contentType}
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		r.Body = text
	}
	answer, err := c.Client.Do(ctx, r)
	return answer.Body, err
}
