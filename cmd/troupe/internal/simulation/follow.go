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

// An objectChange is an object as it is now, or one that is gone.
type objectChange struct {
	gone   bool
	object json.RawMessage // the last state of one that is gone; nil if nothing was told of its end
	key    objectKey
}

// An objectKey names an object of one resource.
type objectKey struct{ namespace, name string }

func (k objectKey) String() string {
	if k.namespace == "" {
		return k.name
	}
	return k.namespace + "/" + k.name
}

// A follower tells of all objects of a resource, and then of every change. When the server has forgotten where the watch was,
// everything is told anew, and what is gone meanwhile is told as gone. All objects come as the initial events of the watch, or by a
// list from a server that sends none, as kube-apiserver with an etcd of release 3.4.
type follower struct {
	client *rest.Client
	path   string
	query  url.Values
	apply  func(objectChange) // called by one goroutine
	synced func()             // called once, when all objects have been told of

	lists   bool               // the server sends no initial events
	version string             // where the watch is; empty when everything has to be told anew
	known   map[objectKey]bool // what was told of and is there
	seen    map[objectKey]bool // the same of the initial events; nil but during those
}

// run follows until the context ends. Where the server cannot be reached it tries again.
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
		if time.Since(started) < time.Second { // a server that is down is not asked in a tight loop
			pause(ctx, 200*time.Millisecond)
		}
	}
}

// watch opens one watch and reads it to its end.
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

// listSize is how many objects one part of a list has.
const listSize = "1000"

// list tells of all objects.
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
				ResourceVersion string `json:"resourceVersion"`
				Continue        string `json:"continue"`
			} `json:"metadata"`
			Items []json.RawMessage `json:"items"`
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

// head is what is read of every object.
type head struct {
	Metadata struct {
		Namespace       string `json:"namespace"`
		Name            string `json:"name"`
		ResourceVersion string `json:"resourceVersion"`
	} `json:"metadata"`
}

func (f *follower) take(e rest.Event) error {
	var h head
	if err := json.Unmarshal(e.Object, &h); err != nil {
		return err
	}
	k := objectKey{h.Metadata.Namespace, h.Metadata.Name}
	switch e.Type {
	case "BOOKMARK":
		if f.seen != nil { // the first one ends the initial events
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
	if f.seen == nil { // before the end of the initial events their versions are in no order
		f.version = h.Metadata.ResourceVersion
	}
	return nil
}

// sweep tells of what is gone and was not told of.
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

// pause waits about so long, or until the context ends.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d + rand.N(d)):
	}
}

// retry repeats a request until it succeeds, the context ends, or the server's answer is one that a repetition does not change.
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

// send sends a body as its JSON; nil is none.
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
