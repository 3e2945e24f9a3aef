package scenario

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"slices"
	"time"

	"github.com/troupe-api/troupe/bench/internal/measure"
	"github.com/troupe-api/troupe/bench/internal/server"
)

// definitions is how many kinds are defined, one after the other. More would say nothing new, and each
// leaves a kind that takes the server time to remove.
const definitions = 20

// customResource: the time from the answered create of a definition to the first answered create of an
// object of its kind. The figure is how many requests were refused in between. A server on which a new kind
// is served some time after its definition was answered forces clients to wait and try again, as they do
// elsewhere.
func customResource(ctx context.Context, s *Session) ([]Result, error) {
	group, err := s.group("apiextensions")
	if err != nil {
		return nil, err
	}
	f, err := s.prepare(ctx, 0)
	if err != nil {
		return nil, err
	}
	defer f.remove()
	c := s.Target.Conn()
	defer c.Close()
	sample, refused := &measure.Sample{}, 0
	m := measure.StartMeter(&server.Target{}) // too few to tell their CPU time
	for n := range min(definitions, s.Count) {
		d := definition{fixture: f, collection: "/apis/" + group + "/v1/customresourcedefinitions", group: group, plural: fmt.Sprintf("bench%dx%d", os.Getpid(), n)}
		refusals, took, err := d.measure(ctx, c)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		refused += refusals
		if err != nil {
			sample.Fail(err)
			break // the kind was never served, and the next one will not be either
		}
		sample.Operations++
		sample.Latencies = append(sample.Latencies, took)
	}
	m.Stop(sample)
	slices.Sort(sample.Latencies)
	return []Result{{Name: "custom-resource", Sample: sample, Figure: &measure.Figure{Value: float64(refused), Unit: "requests refused"}}}, nil
}

// definition is a kind of objects for a while. The name of the kind has the process id in it, so two runs
// on one server do not meet.
type definition struct {
	fixture    *fixture
	collection string // of definitions
	group      string // of definitions
	plural     string
}

// measure defines the kind, creates an object of it as soon as that is possible, and removes the kind. The
// definition goes with its objects, so nothing else has to be removed.
func (d definition) measure(ctx context.Context, c *server.Conn) (refused int, took time.Duration, err error) {
	const version = `{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"size":{"type":"integer"}}}}}`
	body := fmt.Appendf(nil, `{"apiVersion":"%s/v1","kind":"CustomResourceDefinition","metadata":{"name":"%s.bench.example.com"},"spec":{"group":"bench.example.com",`+
		`"scope":"Namespaced","names":{"plural":%q,"singular":"%sone","kind":"B%s","listKind":"B%sList"},"versions":[%s]}}`,
		d.group, d.plural, d.plural, d.plural, d.plural, d.plural, version)
	if _, err := c.Expect(http.StatusCreated, http.MethodPost, d.collection, server.TypeJSON, body); err != nil {
		return 0, 0, err
	}
	defer func() {
		if failed := removeAll(c, d.collection+"/"+d.plural+".bench.example.com"); err == nil {
			err = failed
		}
	}()
	answered := time.Now()
	path := "/apis/bench.example.com/v1/namespaces/" + d.fixture.namespace + "/" + d.plural
	object := fmt.Appendf(nil, `{"apiVersion":"bench.example.com/v1","kind":"B%s","metadata":{"name":"one"},"size":1}`, d.plural)
	for ctx.Err() == nil {
		status, answer, err := c.Do(http.MethodPost, path, server.TypeJSON, object)
		took = time.Since(answered)
		switch {
		case err != nil:
			return refused, took, err
		case status == http.StatusCreated:
			return refused, took, nil
		case took > changeLimit:
			return refused, took, server.WrongStatus(http.MethodPost, path, status, http.StatusCreated, answer)
		}
		refused++
	}
	return refused, took, ctx.Err()
}
