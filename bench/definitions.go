package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"
)

const (
	definitions      = 20               // sequential operations of custom-resource
	burstDefinitions = 1000             // CRDs of definitions, ten per group
	changeLimit      = 10 * time.Second // for a change to take effect
)

func define(apiGroup, group, plural, kind, properties string) (request Request, path string) {
	collection := "/apis/" + apiGroup + "/v1/customresourcedefinitions"
	return post(collection, `{"apiVersion":"%s/v1","kind":"CustomResourceDefinition","metadata":{"name":"%s.%s"},"spec":{"group":%q,"scope":"Namespaced",`+
		`"names":{"plural":%q,"kind":%q},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{%s}}}}]}}`,
		apiGroup, plural, group, group, plural, kind, properties), collection + "/" + plural + "." + group
}

// customResource measures the delay between the creation of a CRD and the first accepted object
// of the new kind. It also reports the number of requests rejected in the meantime.
func customResource(ctx context.Context, f *fixture) ([]Result, error) {
	apiGroup, err := f.Target.group("apiextensions")
	if err != nil {
		return nil, err
	}
	refused := 0
	var waits []time.Duration
	load := Load{Concurrency: 1, Count: min(definitions, f.Count)}
	sample, err := load.drive(ctx, f.Target, func(c *Conn, n int) (_ int, err error) {
		plural := fmt.Sprintf("bench%dx%d", os.Getpid(), n)
		definition, path := define(apiGroup, "bench.example.com", plural, "B"+plural, `"size":{"type":"integer"}`)
		if _, err := c.Call(definition); err != nil {
			return 0, err
		}
		defer func() {
			if removed := removeAll(c, path); err == nil {
				err = removed
			}
		}()
		object := post("/apis/bench.example.com/v1/namespaces/"+f.namespace+"/"+plural,
			`{"apiVersion":"bench.example.com/v1","kind":"B%s","metadata":{"name":"one"},"size":1}`, plural)
		answered := time.Now()
		refusals, err := until(ctx, c, object, http.StatusCreated)
		refused += refusals
		waits = append(waits, time.Since(answered))
		return 0, err
	})
	if err != nil {
		return nil, err
	}
	slices.Sort(waits)
	sample.Latencies = waits
	return []Result{{Sample: sample, Figure: &Figure{Value: float64(refused), Unit: "requests refused"}}}, nil
}

// until repeats a request until the response has the given status, and returns the number of other
// responses. For precision, it does not pause between requests.
func until(ctx context.Context, c *Conn, request Request, status int) (refused int, err error) {
	for begin := time.Now(); ctx.Err() == nil; refused++ {
		got, answer, err := c.Do(request)
		if err != nil || got == status {
			return refused, err
		}
		if time.Since(begin) > changeLimit {
			return refused, wrongStatus(request, got, answer)
		}
	}
	return refused, ctx.Err()
}

// defineMany measures a server with many CRDs of 10 KiB each. It reports the CPU time to create a
// CRD, the memory, the latencies of discovery and the OpenAPI index, and the startup time after a
// restart.
func defineMany(ctx context.Context, s *Session) ([]Result, error) {
	dir, remove, err := dataDir(s.TempDir)
	if err != nil {
		return nil, err
	}
	defer remove()
	created, discovery, openapi, start := &Sample{}, &Sample{}, &Sample{}, &Sample{}
	var memory float64
	if _, err := s.fillStore(ctx, dir, 1, (*Server).stop, func(f *fixture) error {
		group, err := f.Target.group("apiextensions")
		if err != nil {
			return err
		}
		count := min(burstDefinitions, s.Count)
		s.settle(ctx)
		before, err := readUsage(f.Target.Processes)
		if err != nil {
			return err
		}
		load := Load{Concurrency: min(s.Concurrency, 8), Count: count}
		if created, err = load.drive(ctx, f.Target, step(func(n int) Request { return manyFields(group, n) })); err != nil {
			return err
		}
		s.settle(ctx)
		after, err := readUsage(f.Target.Processes)
		if err != nil {
			return err
		}
		memory = float64(after.Resident-before.Resident) / 1024 / float64(count)
		if err := f.Target.timeRequest("/apis", time.Now(), discovery); err != nil {
			return err
		}
		return f.Target.timeRequest("/openapi/v3", time.Now(), openapi)
	}); err != nil {
		return nil, err
	}
	_, err = s.measureStart(ctx, dir, "/apis/g0.bench.example.com/v1/things0", start)
	return []Result{
		{Name: ", created", Sample: created},
		{Name: ", memory", Figure: &Figure{Value: memory, Unit: "KiB resident each"}},
		{Name: ", discovery", Sample: discovery, Figure: milliseconds(discovery.percentile(50))},
		{Name: ", OpenAPI index", Sample: openapi, Figure: milliseconds(openapi.percentile(50))},
		{Name: ", start", Sample: start, Figure: milliseconds(start.percentile(50))},
	}, err
}

// manyFields returns the request that creates a CRD of about 10 KiB. Only ten CRDs share a group,
// so that discovery has many documents.
func manyFields(apiGroup string, n int) Request {
	var fields []string
	for i := range 60 {
		fields = append(fields, fmt.Sprintf(`"field%d":{"type":"object","description":"Field %d of kind %d, which says what is wanted of it.","properties":{"name":{"type":"string","maxLength":63},"size":{"type":"integer","default":1}}}`, i, i, n))
	}
	request, _ := define(apiGroup, fmt.Sprintf("g%d.bench.example.com", n/10), fmt.Sprintf("things%d", n), fmt.Sprintf("Thing%d", n),
		`"spec":{"type":"object","properties":{`+strings.Join(fields, ",")+`}}`)
	return request
}
