package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
)

const (
	hotObjects = 1_000 // objects that single reads and writes cycle through, so that none is a bottleneck
	hotWriters = 64    // clients of hot-object; more than processors, so that they contend
)

func hot(s *Session) int        { return min(hotObjects, s.Count) }
func everything(s *Session) int { return s.Objects }
func one(*Session) int          { return 1 }
func none(*Session) int         { return 0 }

func withObjects(objects func(*Session) int, run func(context.Context, *fixture) ([]Result, error)) runFunc {
	return func(ctx context.Context, s *Session) ([]Result, error) {
		f, err := s.prepare(ctx, objects(s))
		if err != nil {
			return nil, err
		}
		defer f.remove()
		return run(ctx, f)
	}
}

type single struct {
	clients int  // 0 for --concurrency
	once    bool // one operation per object
	request func(f *fixture, n int) Request
}

func (w single) run(ctx context.Context, f *fixture) ([]Result, error) {
	load := f.load()
	if w.clients > 0 {
		load.Concurrency = w.clients
	}
	if w.once {
		load.Count = min(load.Count, f.total)
	}
	result, err := f.measure(ctx, load, "", func(n int) Request { return w.request(f, n) })
	return []Result{result}, err
}

// applyPods measures server-side apply requests to 2 KiB Pods with three field managers. It reports
// three rows: requests that change an annotation, requests that differ only in whitespace, and
// identical requests. Most apply requests of controllers are no-ops like the last two.
func applyPods(ctx context.Context, f *fixture) ([]Result, error) {
	f.others = append(f.others, f.pods())
	pods := hot(f.Session)
	apply := func(path, manager string, body []byte) Request {
		return patch(path+"?fieldManager="+manager+"&force=true", typeApplyPatch, body)
	}
	err := f.fill(ctx, pods, func(c *Conn, n int) (int, error) {
		head := fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":%q`, name(n))
		return calls(c,
			apply(f.pod(n), "bench", f.podJSON(n, "")),
			apply(f.pod(n), "labels", []byte(head+`,"labels":{"owner":"bench"},"annotations":{"example.com/note":"kept"}}}`)),
			apply(f.pod(n)+"/status", "kubelet", []byte(head+`},"status":{"phase":"Running","podIP":"10.0.0.1","conditions":[{"type":"Ready","status":"True"}]}}`)))
	})
	if err != nil {
		return nil, err
	}
	var results []Result
	var sent atomic.Int64
	load := f.load()
	for _, phase := range []struct {
		name string
		body func(n int) []byte
	}{
		{"", func(n int) []byte { return f.podJSON(n, `,"sent":"`+now()+`"`) }},
		{", unchanged", func(n int) []byte { return append(f.podJSON(n, ""), whitespaceNumber(sent.Add(1))...) }},
		{", repeated", func(n int) []byte { return f.podJSON(n, "") }},
	} {
		request := func(n int) Request { return apply(f.pod(n%pods), "bench", phase.body(n%pods)) }
		result, err := f.measure(ctx, load, phase.name, request)
		if err != nil {
			return nil, err
		}
		results = append(results, result)
		load.Profile = "" // profile changes only
		// Reset the Pods, so that the next row does not begin with changes.
		if err := f.fill(ctx, pods, step(func(n int) Request { return apply(f.pod(n), "bench", f.podJSON(n, "")) })); err != nil {
			return nil, err
		}
	}
	return results, nil
}

func whitespaceNumber(n int64) []byte {
	return []byte(strings.NewReplacer("0", " ", "1", "\n").Replace(strconv.FormatInt(n, 2)))
}
