package scenario

import (
	"bytes"
	"context"
	"fmt"
	"net/http"

	"github.com/troupe-api/troupe/bench/internal/measure"
	"github.com/troupe-api/troupe/bench/internal/server"
)

// selectorObjects is how many objects there are of which none is selected. Looking at so many takes long
// enough to show what an index is worth.
const selectorObjects = 300_000

// A selection is a query that matches nothing. An answer that is empty has no items to encode.
type selection struct {
	name, query string
}

// selections: one by a field that servers keep an index of, the others not. growth uses the first two.
var selections = []selection{
	{"selector, indexed field", "fieldSelector=spec.nodeName%3Dnowhere"},
	{"selector, other field", "fieldSelector=status.phase%3DUnknown"},
	{"selector, label", "labelSelector=app%3Dnothing"},
}

// selectNothing: every operation is a list of Pods by a selector that matches none of them, by one client.
// The figure is the median. Nodes ask for their own Pods by the first. An empty answer leaves only the
// search to be measured.
func selectNothing(ctx context.Context, s *Session) ([]Result, error) {
	f, err := s.prepare(ctx, 0)
	if err != nil {
		return nil, err
	}
	defer f.remove()
	f.otherCollections = append(f.otherCollections, f.pods())
	if err := f.fill(ctx, s.scaledSize("selector: Pods", selectorObjects), f.createPod); err != nil {
		return nil, err
	}
	load := s.load()
	load.Concurrency = 1
	var results []Result
	for _, selection := range selections {
		sample, err := load.Drive(ctx, s.Target, f.listByQuery(selection.query))
		if err != nil {
			return nil, err
		}
		results = append(results, Result{Name: selection.name, Sample: sample, Figure: &measure.Figure{Value: measure.Milliseconds(sample.Percentile(50)), Unit: "ms"}})
	}
	return results, nil
}

// listByQuery is the Step that lists Pods by a query; an answer with a Pod in it is an error. A server that
// does not know a selector might list everything.
func (f *fixture) listByQuery(query string) measure.Step {
	return func(c *server.Conn, _ int) (int, error) {
		answer, err := c.Expect(http.StatusOK, http.MethodGet, f.pods()+"?"+query, "", nil)
		if err == nil && bytes.Contains(answer, []byte(itemKey)) {
			err = fmt.Errorf("%s selected something", query)
		}
		return len(answer), err
	}
}

// createPod is the Step that creates the n-th of many small Pods, on one of 1,000 nodes. The nodes spread
// the Pods over the index, as in a cluster.
func (f *fixture) createPod(c *server.Conn, n int) (int, error) {
	body := fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":%q,"labels":{"app":"web","shard":"s%d"}},`+
		`"spec":{"nodeName":%q,"containers":[{"name":"one","image":"example.com/web:1"}]}}`, name(n), n%100, nodeName(n%1_000))
	answer, err := c.Expect(http.StatusCreated, http.MethodPost, f.pods(), server.TypeJSON, body)
	return len(answer), err
}
