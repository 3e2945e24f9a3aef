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

// fixture is a workload's namespace with numbered objects. The objects are ConfigMaps, because they
// need little validation, and no controller distorts the measurement.
type fixture struct {
	*Session
	namespace string
	payload   []byte   // --size bytes
	total     int      // objects 0 to total-1 exist
	others    []string // further collections to delete at the end
}

// namespaceCounter numbers the namespaces of this process. Their names also contain the process ID,
// so that concurrent runs do not collide.
var namespaceCounter atomic.Int64

// prepare creates a namespace with objects 0 to n-1. After a failure it removes the namespace.
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

// fill runs step n times concurrently. It returns an error after any failure, because missing
// objects would distort the measurement.
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

// remove deletes the objects first, because a server without a namespace controller does not delete
// them with the namespace. Errors only appear in the report, because the measurement is complete.
func (f *fixture) remove() {
	c := f.Target.Conn()
	defer c.Close()
	for _, path := range append(f.others, f.collection(), f.path("")) {
		if err := removeAll(c, path); err != nil {
			f.Note("clean-up of %s: %v", path, err)
		}
	}
}

// removeAll deletes the objects at path. Deleting many objects may exceed the request timeout, so
// it retries after a 5xx or a missing response.
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

func (f *fixture) path(collection string) string {
	return "/api/v1/namespaces/" + f.namespace + collection
}

func (f *fixture) collection() string { return f.path("/configmaps") }

func (f *fixture) object(n int) string { return f.collection() + "/" + name(n) }

func name(n int) string { return fmt.Sprintf("item-%06d", n) }

func (f *fixture) newNamespace() Request {
	return post("/api/v1/namespaces", `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":%q}}`, f.namespace)
}

func (f *fixture) create(n int) Request {
	if f.Target.Accept == "" {
		return Request{Method: http.MethodPost, Path: f.collection(), Type: typeJSON, Body: f.json(n)}
	}
	return postTyped(f.collection(), f.Target.Accept, "v1", "ConfigMap",
		wire(1, wire(1, name(n), 3, f.namespace), 2, wire(1, "sent", 2, now()), 2, wire(1, "payload", 2, f.payload)))
}

// json returns the n-th object. It contains a timestamp, so that every write changes it.
func (f *fixture) json(n int) []byte {
	return fmt.Appendf(nil, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"%s","namespace":"%s"},"data":{"sent":"%s","payload":"%s"}}`,
		name(n), f.namespace, now(), f.payload)
}

// get, put, patch and apply cycle through the objects of the fixture.

func (f *fixture) get(n int) Request { return get(f.object(n % f.total)) }

// put omits resourceVersion to avoid conflicts.
func (f *fixture) put(n int) Request {
	request := f.create(n % f.total)
	request.Method, request.Path = http.MethodPut, f.object(n%f.total)
	return request
}

func (f *fixture) patch(n int) Request {
	return patch(f.object(n%f.total), typeMergePatch, fmt.Appendf(nil, `{"data":{"sent":"%s"}}`, now()))
}

func (f *fixture) apply(n int) Request {
	return patch(f.object(n%f.total)+"?fieldManager=bench&force=true", typeApplyPatch, f.json(n%f.total))
}

func (f *fixture) delete(n int) Request { return remove(f.object(n)) }

func (f *fixture) createAndDelete(c *Conn, n int) (int, error) {
	return calls(c, f.create(n+f.total), f.delete(n+f.total))
}

func step(request func(n int) Request) Step {
	return func(c *Conn, n int) (int, error) { return calls(c, request(n)) }
}

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

func (f *fixture) watchPath(collection string) (string, error) {
	c := f.Target.Conn()
	defer c.Close()
	version, err := f.version(c, collection)
	return fmt.Sprintf("%s?watch=true&timeoutSeconds=3600&resourceVersion=%s", collection, version), err
}

func (f *fixture) openWatchers(ctx context.Context, collection string, n int) (*watcherPool, error) {
	path, err := f.watchPath(collection)
	if err != nil {
		return nil, err
	}
	return openWatcherPool(ctx, f.Target, path, n)
}

func (f *fixture) measure(ctx context.Context, load Load, name string, request func(n int) Request) (Result, error) {
	sample, err := load.drive(ctx, f.Target, step(request))
	if err != nil {
		return Result{}, err
	}
	return Result{Name: name, Sample: sample, Floor: floorOf(load, request(0), 1, sample.bytesPerOperation())}, nil
}
