package scenario

import (
	"context"
	"fmt"
	"net/http"

	"github.com/troupe-api/troupe/bench/internal/measure"
	"github.com/troupe-api/troupe/bench/internal/server"
)

// quotas: every operation is a POST of a new Pod, first in a namespace without quotas, then in one with
// two, of which one counts Pods and what they request, and the other one is far from full, too. Quotas that
// are far from full are the usual case; a full one refuses, which is cheaper.
func quotas(ctx context.Context, s *Session) ([]Result, error) {
	var results []Result
	cost := 0.0
	for _, limited := range []bool{false, true} {
		sample, err := s.createPods(ctx, func(f *fixture) (func(), error) {
			if limited {
				return func() {}, f.addQuotas()
			}
			return func() {}, nil
		})
		if err != nil {
			return nil, err
		}
		if !limited {
			cost = sample.CPUPerOperation()
			results = append(results, Result{Name: "quotas, none", Sample: sample})
			continue
		}
		r := Result{Name: "quotas, two", Sample: sample}
		// The CPU time may not be known, and nothing can be a multiple of that.
		if cost > 0 {
			r.Figure = &measure.Figure{Value: sample.CPUPerOperation() / cost, Unit: "times the CPU without"}
		}
		results = append(results, r)
	}
	return results, nil
}

// createPods creates Pods in a namespace of their own, for which constrain has set up what limits them. Pods request
// something, as quotas demand of them.
func (s *Session) createPods(ctx context.Context, constrain func(*fixture) (remove func(), err error)) (*measure.Sample, error) {
	f, err := s.prepare(ctx, 0)
	if err != nil {
		return nil, err
	}
	defer f.remove()
	f.otherCollections = append(f.otherCollections, f.pods())
	remove, err := constrain(f)
	if err != nil {
		return nil, err
	}
	defer remove()
	load := s.load()
	return load.Drive(ctx, s.Target, func(c *server.Conn, n int) (int, error) {
		body := fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":%q,"labels":{"app":"web"}},`+
			`"spec":{"containers":[{"name":"one","image":"example.com/web:1","resources":{"requests":{"cpu":"100m","memory":"64Mi"},"limits":{"cpu":"200m","memory":"64Mi"}}}]}}`, name(n))
		answer, err := c.Expect(http.StatusCreated, http.MethodPost, f.pods(), server.TypeJSON, body)
		return len(answer), err
	})
}

// A quota is in force when its create is answered, so nothing is waited for.
func (f *fixture) addQuotas() error {
	c := f.session.Target.Conn()
	defer c.Close()
	for _, quota := range []string{
		`{"metadata":{"name":"all"},"spec":{"hard":{"pods":"100M","requests.cpu":"100M","requests.memory":"100Pi","limits.cpu":"100M","limits.memory":"100Pi"}}}`,
		`{"metadata":{"name":"lasting"},"spec":{"hard":{"pods":"100M","count/pods":"100M","requests.cpu":"100M"},"scopes":["NotTerminating"]}}`,
	} {
		if _, err := c.Expect(http.StatusCreated, http.MethodPost, f.namespacePath()+"/resourcequotas", server.TypeJSON, []byte(quota)); err != nil {
			return err
		}
	}
	return nil
}
