package scenario

import (
	"context"
	"fmt"
	"net/http"

	"github.com/troupe-api/troupe/bench/internal/server"
)

// podWatchers follow the Pods of pod-life, as controllers and node agents do.
const podWatchers = 10

// podEvents is what one life of a Pod shows to a watcher: added, bound, three times a status, deleted.
const podEvents = 6

// podLife: every operation is the life of one Pod, six writes: create, bind, three status patches, delete;
// ten watchers see all of it. It is what one Pod costs a cluster's server from beginning to end, nearly all
// of it writes to sub-resources.
func podLife(ctx context.Context, s *Session) ([]Result, error) {
	f, err := s.prepare(ctx, 0)
	if err != nil {
		return nil, err
	}
	defer f.remove()
	f.otherCollections = append(f.otherCollections, f.pods())
	path, err := f.watchFrom(f.pods())
	if err != nil {
		return nil, err
	}
	a, err := openWatcherPool(ctx, s.Target, path, podWatchers, countOnly)
	if err != nil {
		return nil, err
	}
	load := s.load()
	sample, err := load.Drive(ctx, s.Target, f.podLifecycle)
	if err == nil {
		// The load ends when all events have arrived: an event that never comes is a fault and not a saving.
		err = a.await(ctx, int64(sample.Operations*podEvents*podWatchers), s.Target.Timeout)
	}
	seen := a.close()
	if err != nil {
		return nil, err
	}
	sample.Errors += seen.Errors
	if sample.FirstError == "" {
		sample.FirstError = seen.FirstError
	}
	return []Result{{Name: "pod-life", Sample: sample}}, nil
}

// podLifecycle is the Step of one whole life. The writes depend on each other, so they are made in order on
// one connection.
func (f *fixture) podLifecycle(c *server.Conn, n int) (int, error) {
	size := 0
	for _, write := range []struct {
		status             int
		method, path, kind string
		body               []byte
	}{
		{http.StatusCreated, http.MethodPost, f.pods(), server.TypeJSON, f.pod(n, "")},
		{http.StatusCreated, http.MethodPost, f.podPath(n) + "/binding", server.TypeJSON,
			fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Binding","metadata":{"name":%q},"target":{"kind":"Node","name":"node-1"}}`, name(n))},
		{http.StatusOK, http.MethodPatch, f.podPath(n) + "/status", server.TypeMergePatch, podStatus("Pending", "False")},
		{http.StatusOK, http.MethodPatch, f.podPath(n) + "/status", server.TypeMergePatch, podStatus("Running", "True")},
		{http.StatusOK, http.MethodPatch, f.podPath(n) + "/status", server.TypeMergePatch, podStatus("Succeeded", "False")},
		{http.StatusOK, http.MethodDelete, f.podPath(n) + "?gracePeriodSeconds=0", "", nil},
	} {
		answer, err := c.Expect(write.status, write.method, write.path, write.kind, write.body)
		if err != nil {
			return size, err
		}
		size += len(answer)
	}
	return size, nil
}

// podStatus is what the node says of the Pod at one time.
func podStatus(phase, ready string) []byte {
	return fmt.Appendf(nil, `{"status":{"phase":%q,"hostIP":"10.0.0.9","podIP":"10.0.1.7","conditions":[{"type":"Ready","status":%q}]}}`, phase, ready)
}
