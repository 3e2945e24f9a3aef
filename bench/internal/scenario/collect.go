package scenario

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/troupe-api/troupe/bench/internal/measure"
	"github.com/troupe-api/troupe/bench/internal/server"
)

// What is deleted in the three scenarios of this file: objects below one owner, objects in one namespace, and namespaces.
const (
	collectedObjects  = 10_000
	drainedObjects    = 10_000
	drainedNamespaces = 2_000
)

// collectLimit bounds the wait until all has gone.
const collectLimit = 5 * time.Minute

// pollPause is the pause between two looks at what is left. Each costs the server next to nothing, as it lists one object
// at most.
const pollPause = 10 * time.Millisecond

// collect measures from the start of remove, which deletes n objects or what they hang on, until a look says that all of
// them have gone. One operation is one object that has gone.
// The end is seen up to one pollPause late, which is little beside seconds.
func (s *Session) collect(ctx context.Context, name string, n int, remove func(*measure.Sample) error, gone func(*server.Conn) (bool, error)) ([]Result, error) {
	c := s.Target.Conn()
	defer c.Close()
	if err := c.Dial(ctx); err != nil {
		return nil, err
	}
	sample := &measure.Sample{}
	m := measure.StartMeter(s.Target)
	// The meter runs already: what the deletion itself costs is part of the figure.
	if err := remove(sample); err != nil {
		return nil, err
	}
	for {
		done, err := gone(c)
		switch {
		case err != nil:
			return nil, err
		case done:
			// One operation is one object that has gone, whatever the server did for it: only then can servers be compared.
			sample.Operations = n
			m.Stop(sample)
			return []Result{{Name: name, Sample: sample, Figure: &measure.Figure{Value: sample.Elapsed.Seconds(), Unit: "s until all had gone"}}}, nil
		case time.Since(m.Begin) > collectLimit:
			return nil, fmt.Errorf("%s: not all has gone after %v", name, collectLimit)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(pollPause):
		}
	}
}

// isEmpty tells whether a list at a path has no item.
func isEmpty(path string) func(*server.Conn) (bool, error) {
	return func(c *server.Conn) (bool, error) {
		answer, err := c.Expect(http.StatusOK, http.MethodGet, path, "", nil)
		return bytes.Contains(answer, []byte(`"items":[]`)), err
	}
}

// garbage: the deletion of one object below which there are three levels of others: ten, a hundred, and the rest. It is a
// chain of deletes, of which each level is found only when the one above it has gone.
// Owners of a level are spread evenly over those of the level above.
func garbage(ctx context.Context, s *Session) ([]Result, error) {
	f, err := s.prepare(ctx, 1)
	if err != nil {
		return nil, err
	}
	defer f.remove()
	// The owners of the next level: at first the one object that is deleted, then those that were made last.
	owners, total := []string{""}, s.scaledSize("garbage: objects", collectedObjects)
	if owners[0], err = f.uid(0); err != nil {
		return nil, err
	}
	made := 0
	// upTo is how many owned objects there are after a level. Under --scale the last may be smaller than the one before.
	for _, upTo := range []int{10, 100, total} {
		n := min(upTo, total) - made
		if n == 0 {
			break
		}
		if owners, err = f.populateOwned(ctx, made, n, owners); err != nil {
			return nil, err
		}
		made += n
	}
	c := s.Target.Conn()
	defer c.Close()
	remove := func(*measure.Sample) error {
		_, err := c.Expect(http.StatusOK, http.MethodDelete, f.path(0)+"?propagationPolicy=Background", "", nil)
		return err
	}
	return s.collect(ctx, "garbage", total, remove, isEmpty(f.collection()+"?limit=1&labelSelector=owned%3Dyes"))
}

// populateOwned creates n ConfigMaps that are owned by some objects in turn, and returns their uids. made is how many owned
// ones there are before.
func (f *fixture) populateOwned(ctx context.Context, made, n int, owners []string) (uids []string, err error) {
	uids = make([]string, n)
	err = f.fill(ctx, n, func(c *server.Conn, i int) (int, error) {
		owner := i % len(owners)
		body := fmt.Appendf(nil, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"owned-%d","labels":{"owned":"yes"},"ownerReferences":[`+
			`{"apiVersion":"v1","kind":"ConfigMap","name":%q,"uid":%q}]},"data":{"payload":%q}}`, made+i, f.ownerName(made, owner, len(owners)), owners[owner], f.payload)
		answer, err := c.Expect(http.StatusCreated, http.MethodPost, f.collection(), server.TypeJSON, body)
		if err == nil {
			uids[i], err = uidIn(answer)
		}
		return len(answer), err
	})
	return uids, err
}

// ownerName is the name of the n-th of the owners of the next level. The last of them was made just before it.
func (f *fixture) ownerName(made, n, owners int) string {
	if made == 0 {
		return name(n)
	}
	return fmt.Sprintf("owned-%d", made-owners+n)
}

// uid reads the uid of the n-th object.
func (f *fixture) uid(n int) (string, error) {
	c := f.session.Target.Conn()
	defer c.Close()
	answer, err := c.Expect(http.StatusOK, http.MethodGet, f.path(n), "", nil)
	if err != nil {
		return "", err
	}
	return uidIn(answer)
}

// uidIn is the uid of the object in an answer.
func uidIn(answer []byte) (string, error) {
	var object struct {
		Metadata struct {
			UID string `json:"uid"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(answer, &object); err != nil || object.Metadata.UID == "" {
		return "", fmt.Errorf("an object without a uid: %s", server.Excerpt(answer))
	}
	return object.Metadata.UID, nil
}

// drainNamespace: the deletion of a namespace with many objects in it.
func drainNamespace(ctx context.Context, s *Session) ([]Result, error) {
	n := s.scaledSize("namespace: objects", drainedObjects)
	f, err := s.prepare(ctx, n)
	if err != nil {
		return nil, err
	}
	c := s.Target.Conn()
	defer c.Close()
	remove := func(*measure.Sample) error { return removeAll(c, f.namespacePath()) }
	return s.collect(ctx, "namespace", n, remove, func(c *server.Conn) (bool, error) {
		status, answer, err := c.Do(http.MethodGet, f.namespacePath(), "", nil)
		if err == nil && status != http.StatusOK && status != http.StatusNotFound {
			err = fmt.Errorf("status %d: %s", status, server.Excerpt(answer))
		}
		return status == http.StatusNotFound, err
	})
}

// drainNamespaces: the deletion of many namespaces by all clients at once, with nothing in them but what the server puts
// there.
func drainNamespaces(ctx context.Context, s *Session) ([]Result, error) {
	n := s.scaledSize("namespaces", drainedNamespaces)
	prefix := fmt.Sprintf("bench-%d-%d-", os.Getpid(), namespaceCounter.Add(1))
	load := measure.Load{Concurrency: min(s.Concurrency, n), Count: n}
	created, err := load.Drive(ctx, s.Target, func(c *server.Conn, i int) (int, error) {
		body := fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"%s%d","labels":{"bench":%q}}}`, prefix, i, prefix+"x")
		answer, err := c.Expect(http.StatusCreated, http.MethodPost, "/api/v1/namespaces", server.TypeJSON, body)
		return len(answer), err
	})
	if err == nil && created.Errors > 0 {
		err = errors.New(created.FirstError)
	}
	if err != nil {
		return nil, err
	}
	s.settle(ctx) // for what the server puts into them
	remove := func(sum *measure.Sample) error {
		deleted, err := load.Drive(ctx, s.Target, func(c *server.Conn, i int) (int, error) {
			return 0, removeAll(c, fmt.Sprintf("/api/v1/namespaces/%s%d", prefix, i))
		})
		if err == nil {
			sum.Errors, sum.FirstError, sum.Latencies = deleted.Errors, deleted.FirstError, deleted.Latencies
		}
		return err
	}
	return s.collect(ctx, "namespaces", n, remove, isEmpty("/api/v1/namespaces?limit=1&labelSelector=bench%3D"+prefix+"x"))
}
