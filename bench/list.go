package main

import (
	"context"
	"fmt"
	"net/url"
)

const (
	chunk           = 500     // page size of list-chunked, as in kubectl
	selectorObjects = 300_000 // Pods that selectors must search; enough to show the benefit of an index
)

func (f *fixture) list(int) Request {
	request := get(f.collection())
	request.Check = func(answer []byte) error { return f.complete(f.Target.items(answer)) }
	return request
}

func (f *fixture) complete(items int) error {
	if items != f.Objects {
		return fmt.Errorf("list of %s held %d objects instead of %d", f.collection(), items, f.Objects)
	}
	return nil
}

func (f *fixture) firstChunk(limit int) func(int) Request {
	return func(int) Request { return get(fmt.Sprintf("%s?limit=%d", f.collection(), limit)) }
}

func listChunked(ctx context.Context, f *fixture) ([]Result, error) {
	load := f.load()
	sample, err := load.drive(ctx, f.Target, f.listChunks)
	if err != nil {
		return nil, err
	}
	requests := (f.Objects + chunk - 1) / chunk
	return []Result{{Sample: sample, Floor: floorOf(load, get(""), requests, sample.bytesPerOperation())}}, nil
}

// listChunks is a Step that follows the continue tokens. It fails if there are more chunks than
// objects.
func (f *fixture) listChunks(c *Conn, _ int) (size int, err error) {
	request, items := f.firstChunk(chunk)(0), 0
	first := request.Path
	for range f.Objects + 1 {
		answer, err := c.Call(request)
		if err != nil {
			return size, err
		}
		size += len(answer)
		items += f.Target.items(answer)
		token := f.Target.continueToken(answer)
		if token == "" {
			return size, f.complete(items)
		}
		request.Path = first + "&continue=" + url.QueryEscape(token)
	}
	return size, fmt.Errorf("list of %s never ends", f.collection())
}

// selections are queries that match no object, so that they measure only the search. The growth
// workload uses the first two.
var selections = []struct{ name, query string }{
	{"indexed field", "fieldSelector=spec.nodeName%3Dnowhere"},
	{"other field", "fieldSelector=status.phase%3DUnknown"},
	{"label", "labelSelector=app%3Dnothing"},
}

// selectNothing measures one client's lists with selectors that match no Pod.
func selectNothing(ctx context.Context, f *fixture) (results []Result, err error) {
	f.others = append(f.others, f.pods())
	if err := f.fill(ctx, f.scaledSize("selector: Pods", selectorObjects), step(f.createSmallPod)); err != nil {
		return nil, err
	}
	load := f.load()
	load.Concurrency = 1
	for _, selection := range selections {
		sample, err := load.drive(ctx, f.Target, step(f.selectPods(selection.query)))
		if err != nil {
			return nil, err
		}
		results = append(results, Result{Name: ", " + selection.name, Sample: sample, Figure: milliseconds(sample.percentile(50))})
	}
	return results, nil
}

// selectPods returns requests that list Pods with the given query. A Pod in the response is an
// error, because a server that ignores the selector would list all Pods.
func (f *fixture) selectPods(query string) func(int) Request {
	return func(int) Request {
		request := get(f.pods() + "?" + query)
		request.Check = func(answer []byte) error {
			if f.Target.items(answer) > 0 {
				return fmt.Errorf("%s selected something", query)
			}
			return nil
		}
		return request
	}
}

func (f *fixture) createSmallPod(n int) Request {
	return post(f.pods(), `{"apiVersion":"v1","kind":"Pod","metadata":{"name":%q,"labels":{"app":"web","shard":"s%d"}},`+
		`"spec":{"nodeName":%q,"containers":[{"name":"one","image":"example.com/web:1"}]}}`, name(n), n%100, nodeName(n%1_000))
}
