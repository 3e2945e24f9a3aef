package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"sync/atomic"
)

// fixture is a namespace of a workload's own, with numbered objects. They are ConfigMaps, which
// have next to no rules and no controllers, so that only the server is measured.
type fixture struct {
	*Session
	namespace string
	payload   []byte   // of the configured size
	total     int      // objects 0 to total-1 exist
	others    []string // collections to empty beside that of the objects
}

// namespaceCounter numbers the namespaces of this process. Together with the process ID it keeps
// runs on one server apart.
var namespaceCounter atomic.Int64

// prepare makes a namespace and puts objects 0 to n-1 into it. On failure it is removed again.
func (s *Session) prepare(ctx context.Context, n int) (*fixture, error) {
	f := &fixture{
		Session:   s,
		namespace: fmt.Sprintf("bench-%d-%d", os.Getpid(), namespaceCounter.Add(1)),
		payload:   bytes.Repeat([]byte("x"), s.Size),
		total:     n,
	}
	c := s.Target.Conn()
	defer c.Close()
	if _, err := c.Call(f.newNamespace()); err != nil {
		return nil, err
	}
	if err := f.fill(ctx, n, step(f.create)); err != nil {
		f.remove()
		return nil, err
	}
	return f, nil
}

// fill runs step n times with as many clients as the load has. Any failure is an error, since a
// measurement on fewer objects would be one of something else.
func (f *fixture) fill(ctx context.Context, n int, step Step) error {
	if n <= 0 {
		return nil
	}
	sample, err := Load{Concurrency: min(f.Concurrency, n), Count: n}.drive(ctx, f.Target, step)
	if err == nil && sample.Operations < n {
		err = fmt.Errorf("prepared %d of %d objects: %s", sample.Operations, n, sample.FirstError)
	}
	return err
}

// remove deletes the objects and the namespace; a server without a namespace controller empties
// none. Failures are only noted, since the measurement is complete.
func (f *fixture) remove() {
	c := f.Target.Conn()
	defer c.Close()
	for _, path := range append(f.others, f.collection(), f.path("")) {
		if err := removeAll(c, path); err != nil {
			f.Note("clean-up of %s: %v", path, err)
		}
	}
}

// removeAll deletes what is at path. Many objects can take longer than a request may, so it tries
// again while there is no response, or one from 500 on.
func removeAll(c *Conn, path string) (err error) {
	request := remove(path + "?gracePeriodSeconds=0")
	for range 5 {
		status, answer, failed := c.Do(request)
		if err = failed; err == nil && status >= http.StatusMultipleChoices {
			err = wrongStatus(request, status, answer)
		}
		if err == nil || failed == nil && status < http.StatusInternalServerError {
			return err
		}
	}
	return err
}

// path is that of a collection in the namespace, or of the namespace itself.
func (f *fixture) path(collection string) string {
	return "/api/v1/namespaces/" + f.namespace + collection
}

func (f *fixture) collection() string { return f.path("/configmaps") }

func (f *fixture) object(n int) string { return f.collection() + "/" + name(n) }

// name is that of the n-th object. All names have the same length.
func name(n int) string { return fmt.Sprintf("item-%06d", n) }

func (f *fixture) newNamespace() Request {
	return post("/api/v1/namespaces", `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":%q}}`, f.namespace)
}

// create is the request for the n-th object in the format of the clients.
func (f *fixture) create(n int) Request {
	if f.Target.Accept == "" {
		return Request{Method: http.MethodPost, Path: f.collection(), Type: typeJSON, Body: f.json(n)}
	}
	return postTyped(f.collection(), f.Target.Accept, "v1", "ConfigMap",
		wire(1, wire(1, name(n), 3, f.namespace), 2, wire(1, "sent", 2, now()), 2, wire(1, "payload", 2, f.payload)))
}

// json is the n-th object, stamped with the time, so that no write is one that changes nothing.
func (f *fixture) json(n int) []byte {
	return fmt.Appendf(nil, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"%s","namespace":"%s"},"data":{"sent":"%s","payload":"%s"}}`,
		name(n), f.namespace, now(), f.payload)
}

// The following requests go round the objects, so that all of them are equally hot.

func (f *fixture) get(n int) Request { return get(f.object(n % f.total)) }

// put carries no resourceVersion, so it never conflicts with the write of another client.
func (f *fixture) put(n int) Request {
	request := f.create(n % f.total)
	request.Method, request.Path = http.MethodPut, f.object(n%f.total)
	return request
}

// patch changes one value.
func (f *fixture) patch(n int) Request {
	return patch(f.object(n%f.total), typeMergePatch, fmt.Appendf(nil, `{"data":{"sent":"%s"}}`, now()))
}

// apply changes one value as one and the same manager, who takes fields from others.
func (f *fixture) apply(n int) Request {
	return patch(f.object(n%f.total)+"?fieldManager=bench&force=true", typeApplyPatch, f.json(n%f.total))
}

func (f *fixture) delete(n int) Request { return remove(f.object(n)) }

// createAndDelete is the step that creates an object of a new name and deletes it again.
func (f *fixture) createAndDelete(c *Conn, n int) (int, error) {
	return calls(c, f.create(n+f.total), f.delete(n+f.total))
}

// step is an operation of one request.
func step(request func(n int) Request) Step {
	return func(c *Conn, n int) (int, error) { return calls(c, request(n)) }
}

// calls sends requests one after the other and returns the bytes of their responses.
func calls(c *Conn, requests ...Request) (size int, err error) {
	for _, request := range requests {
		answer, err := c.Call(request)
		if err != nil {
			return size, err
		}
		size += len(answer)
	}
	return size, nil
}

// version returns the resourceVersion of a collection. A limit of one keeps the list small.
func (f *fixture) version(c *Conn, collection string) (string, error) {
	answer, err := c.Call(get(collection + "?limit=1"))
	if err != nil {
		return "", err
	}
	version := f.Target.resourceVersionOfList(answer)
	if version == "" {
		err = errors.New("list without a resourceVersion: " + excerpt(answer))
	}
	return version, err
}

// watchPath watches a collection from its current version, for longer than any workload runs.
func (f *fixture) watchPath(collection string) (string, error) {
	c := f.Target.Conn()
	defer c.Close()
	version, err := f.version(c, collection)
	return fmt.Sprintf("%s?watch=true&timeoutSeconds=3600&resourceVersion=%s", collection, version), err
}

// openWatchers opens n watches of a collection.
func (f *fixture) openWatchers(ctx context.Context, collection string, n int) (*watcherPool, error) {
	path, err := f.watchPath(collection)
	if err != nil {
		return nil, err
	}
	return openWatcherPool(ctx, f.Target, path, n)
}

// measure drives requests, and makes a result of them with the floor.
func (f *fixture) measure(ctx context.Context, load Load, name string, request func(n int) Request) (Result, error) {
	sample, err := load.drive(ctx, f.Target, step(request))
	if err != nil {
		return Result{}, err
	}
	return Result{Name: name, Sample: sample, Floor: floorOf(load, request(0), 1, sample.bytesPerOperation())}, nil
}
