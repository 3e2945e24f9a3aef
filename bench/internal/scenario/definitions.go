package scenario

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/troupe-api/troupe/bench/internal/measure"
	"github.com/troupe-api/troupe/bench/internal/server"
)

// burstDefinitions is how many kinds are defined as quickly as possible, ten in each group.
const burstDefinitions = 1000

// defineMany: what many definitions of middling size cost: CPU time to create and serve one, which is when its create is
// answered; memory at rest; discovery and the index of OpenAPI, which are asked for once they are there; and the next start.
func defineMany(ctx context.Context, s *Session) ([]Result, error) {
	dir, remove, err := server.DataDir(s.TempDir)
	if err != nil {
		return nil, err
	}
	defer remove()
	d, err := s.spec(dir).Start()
	if err != nil {
		return nil, err
	}
	// The variable is read at the end, when it may be the second daemon.
	defer func() { d.Kill() }()
	count := min(burstDefinitions, s.Count)
	s.settle(ctx)
	before := resident(d, &measure.Sample{})
	created, err := s.define(ctx, d.Target, count)
	if err != nil {
		return nil, err
	}
	s.settle(ctx)
	// Resident memory is in MiB, the figure in KiB for each definition.
	memory := (resident(d, &measure.Sample{}) - before) * 1024 / float64(count)
	discovery, openapi := &measure.Sample{}, &measure.Sample{}
	timeRequest(d.Target, "/apis", discovery)
	timeRequest(d.Target, "/openapi/v3", openapi)
	if err := d.Stop(); err != nil {
		return nil, err
	}
	start := &measure.Sample{}
	if d, err = s.spec(dir).Start(); err != nil {
		return nil, err
	}
	if err := firstRequest(d, "/apis/g0.bench.example.com/v1/things0", start); err != nil {
		return nil, err
	}
	milliseconds := func(sample *measure.Sample) *measure.Figure {
		return &measure.Figure{Value: measure.Milliseconds(sample.Percentile(50)), Unit: "ms"}
	}
	return []Result{
		{Name: "definitions, created", Sample: created},
		{Name: "definitions, memory", Figure: &measure.Figure{Value: memory, Unit: "KiB resident each"}},
		{Name: "definitions, discovery", Sample: discovery, Figure: milliseconds(discovery)},
		{Name: "definitions, OpenAPI index", Sample: openapi, Figure: milliseconds(openapi)},
		{Name: "definitions, start", Sample: start, Figure: milliseconds(start)},
	}, nil
}

// define creates definitions by all clients at once.
func (s *Session) define(ctx context.Context, target *server.Target, count int) (*measure.Sample, error) {
	// The workload has a server of its own, on which the group is to be looked up.
	on := *s
	on.Target = target
	group, err := on.group("apiextensions")
	if err != nil {
		return nil, err
	}
	load := measure.Load{Concurrency: min(s.Concurrency, 8), Count: count, Duration: s.Timeout}
	return load.Drive(ctx, target, func(c *server.Conn, n int) (int, error) {
		answer, err := c.Expect(http.StatusCreated, http.MethodPost, "/apis/"+group+"/v1/customresourcedefinitions", server.TypeJSON, manyFields(group, n))
		return len(answer), err
	})
}

// manyFields is a definition of about 10 KiB, with 60 fields that are described.
func manyFields(group string, n int) []byte {
	var fields strings.Builder
	for i := range 60 {
		if i > 0 {
			fields.WriteByte(',')
		}
		fmt.Fprintf(&fields, `"field%d":{"type":"object","description":"Field %d of kind %d, which says what is wanted of it.","properties":{"name":{"type":"string","maxLength":63},"size":{"type":"integer","default":1}}}`, i, i, n)
	}
	// Ten definitions in each group, so that there are many groups, too:
	// discovery has a document for each.
	own := fmt.Sprintf("g%d.bench.example.com", n/10)
	return fmt.Appendf(nil, `{"apiVersion":"%s/v1","kind":"CustomResourceDefinition","metadata":{"name":"things%d.%s"},"spec":{"group":%q,"scope":"Namespaced",`+
		`"names":{"plural":"things%d","kind":"Thing%d"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":`+
		`{"type":"object","properties":{"spec":{"type":"object","properties":{%s}}}}}}]}}`, group, n, own, own, n, n, fields.String())
}

// timeRequest times one GET.
// The connection is new, so the handshake is part of the time.
func timeRequest(target *server.Target, path string, sample *measure.Sample) {
	c := target.Conn()
	defer c.Close()
	began := time.Now()
	_, err := c.Expect(http.StatusOK, http.MethodGet, path, "", nil)
	if err != nil {
		sample.Fail(err)
		return
	}
	took := time.Since(began)
	sample.Operations++
	sample.Elapsed += took
	sample.Latencies = append(sample.Latencies, took)
}
