package apiclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"time"
)

// A Change is an object as it is now, or the last state of one that is gone.
type Change struct {
	Gone   bool
	Object json.RawMessage // a Change that was missed has none: then Key tells which object is gone
	Key    Key
}

// A Key names an object of one resource.
type Key struct{ Namespace, Name string }

func (k Key) String() string {
	if k.Namespace == "" {
		return k.Name
	}
	return k.Namespace + "/" + k.Name
}

// Follow tells of all objects of a resource, and then of every change, until the context ends. Where the server cannot
// be reached it tries again. When the server has forgotten where the watch was, everything is told anew, and what is
// gone meanwhile is told as gone. apply is called by one goroutine; synced is called once, when all objects have been
// told of.
func (c *Client) Follow(ctx context.Context, path string, query url.Values, log *slog.Logger, apply func(Change), synced func()) {
	f := follower{client: c, path: path, query: query, apply: apply, synced: synced, known: map[Key]bool{}}
	for ctx.Err() == nil {
		started := time.Now()
		err := f.watch(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			log.Debug("a watch ended", "path", path, "error", err)
		}
		if time.Since(started) < time.Second { // a server that is down is not asked in a tight loop
			select {
			case <-ctx.Done():
			case <-time.After(200*time.Millisecond + rand.N(200*time.Millisecond)):
			}
		}
	}
}

// A follower is a Follow. version is empty when everything has to be told anew; seen is nil but during that.
type follower struct {
	client  *Client
	path    string
	query   url.Values
	apply   func(Change)
	synced  func()
	version string
	known   map[Key]bool
	seen    map[Key]bool
}

// head is what is read of every object and Status.
type head struct {
	Code     int    `json:"code"`
	Message  string `json:"message"`
	Metadata struct {
		Namespace       string `json:"namespace"`
		Name            string `json:"name"`
		ResourceVersion string `json:"resourceVersion"`
	} `json:"metadata"`
}

// watch opens one watch and reads it to its end.
func (f *follower) watch(ctx context.Context) error {
	query := url.Values{"watch": {"true"}, "allowWatchBookmarks": {"true"}}
	for name, values := range f.query {
		query[name] = values
	}
	if f.version == "" {
		query.Set("sendInitialEvents", "true")
		query.Set("resourceVersionMatch", "NotOlderThan")
		f.seen = map[Key]bool{}
	} else {
		query.Set("resourceVersion", f.version)
	}
	body, err := f.client.send(ctx, http.MethodGet, f.path+"?"+query.Encode(), "", nil)
	if err != nil {
		if HasCode(err, http.StatusGone) {
			f.version = ""
		}
		return err
	}
	defer body.Close()
	for decoder := json.NewDecoder(body); ; {
		var event struct {
			Type   string          `json:"type"`
			Object json.RawMessage `json:"object"`
		}
		if err := decoder.Decode(&event); err != nil {
			return err
		}
		if err := f.take(event.Type, event.Object); err != nil {
			return err
		}
	}
}

func (f *follower) take(kind string, object json.RawMessage) error {
	var h head
	if err := json.Unmarshal(object, &h); err != nil {
		return err
	}
	key := Key{h.Metadata.Namespace, h.Metadata.Name}
	switch kind {
	case "ERROR":
		f.version = "" // whatever it is, a new list puts it right
		return &StatusError{h.Code, h.Message}
	case "BOOKMARK":
		if f.seen != nil { // the first one ends the initial events
			f.sweep()
		}
	case "ADDED", "MODIFIED":
		f.known[key] = true
		if f.seen != nil {
			f.seen[key] = true
		}
		f.apply(Change{Object: object, Key: key})
	case "DELETED":
		delete(f.known, key)
		f.apply(Change{Gone: true, Object: object, Key: key})
	default:
		return fmt.Errorf("an event of the unknown type %q", kind)
	}
	if f.seen == nil { // before the end of the initial events their versions are in no order
		f.version = h.Metadata.ResourceVersion
	}
	return nil
}

// sweep tells of what is gone and was not told of.
func (f *follower) sweep() {
	for key := range f.known {
		if !f.seen[key] {
			delete(f.known, key)
			f.apply(Change{Gone: true, Key: key})
		}
	}
	f.seen = nil
	if f.synced != nil {
		f.synced()
		f.synced = nil
	}
}

// Retry repeats a request until it succeeds, the context ends, or the server's answer is one that a repetition does not
// change.
func Retry(ctx context.Context, send func() error) error {
	pause := 50 * time.Millisecond
	for {
		err := send()
		var answer *StatusError
		if err == nil || ctx.Err() != nil || errors.As(err, &answer) && answer.Code != http.StatusTooManyRequests && answer.Code != http.StatusConflict && answer.Code < 500 {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause + rand.N(pause)):
		}
		pause = min(2*pause, 2*time.Second)
	}
}
