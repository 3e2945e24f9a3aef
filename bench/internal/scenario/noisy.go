package scenario

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/troupe-api/troupe/bench/internal/measure"
	"github.com/troupe-api/troupe/bench/internal/server"
)

// Clients of noisy: those that ask now and then, on how many connections the other one asks, and how often that is compared.
const (
	quietClients     = 99
	quietPause       = 50 * time.Millisecond
	noisyConnections = 300
	// noisyRounds: it is measured without and with the noisy client in turns, and the figure is the median, since a machine does not stay as it is.
	noisyRounds = 5
)

// noisy: the get of one of 99 service accounts that each ask twenty times a second; first alone, then beside one more that asks for
// all it can get, on 300 connections. A server that shares itself fairly serves the others about as soon as before. They all
// have the same right, and are served at the same priority level.
func noisy(ctx context.Context, s *Session) ([]Result, error) {
	f, err := s.prepare(ctx, s.hotCount())
	if err != nil {
		return nil, err
	}
	defer f.remove()
	r, err := f.roles()
	if err != nil {
		return nil, err
	}
	targets, err := r.accountTargets(s.scaledSize("noisy: clients", quietClients) + 1)
	if err != nil {
		return nil, err
	}
	n := noise{fixture: f, loud: targets[0], load: s.load()}
	defer func() {
		for _, c := range n.quiet {
			c.Close()
		}
	}()
	if err := n.connect(ctx, targets[1:]); err != nil {
		return nil, err
	}
	n.load.Duration /= noisyRounds
	n.load.Count /= noisyRounds
	var alone, beside measure.Sample
	var ratios []float64
	var loud server.FloodCounts
	for range noisyRounds {
		without, err := n.measure(ctx)
		if err != nil {
			return nil, err
		}
		with, counts, err := n.measureFlooded(ctx)
		if err != nil {
			return nil, err
		}
		merge(&alone, without)
		merge(&beside, with)
		ratios = append(ratios, float64(with.Percentile(99))/float64(max(without.Percentile(99), 1)))
		loud.Answered += counts.Answered
		loud.Refused += counts.Refused
	}
	if n.unprioritized != nil {
		s.Note("noisy: the clients wait for a processor as the server and the noisy client do, which is measured too: %v", n.unprioritized)
	}
	slices.Sort(ratios)
	s.Note("noisy: the noisy client was answered %d times, and refused %d times; ratios of the rounds %.2f", loud.Answered, loud.Refused, ratios)
	return []Result{
		{Name: "noisy, none", Sample: &alone},
		{Name: "noisy", Sample: &beside, Figure: &measure.Figure{Value: ratios[noisyRounds/2], Unit: "× the p99 without it"}},
	}, nil
}

// merge adds one round to others.
func merge(sum, round *measure.Sample) {
	sum.Add(round)
	slices.Sort(sum.Latencies)
	sum.Elapsed += round.Elapsed
	sum.CPU += round.CPU
	sum.Resident, sum.Measured = round.Resident, round.Measured
}

// accountTargets makes so many service accounts that may read, and returns the target as each of them.
// One binding names all of them, so that authorization costs the same for each.
func (r *roles) accountTargets(n int) ([]*server.Target, error) {
	c := r.fixture.session.Target.Conn()
	defer c.Close()
	var targets []*server.Target
	var subjects [][]byte
	for i := range n {
		name := fmt.Sprintf("client-%03d", i)
		if err := r.fixture.addAccount(c, name); err != nil {
			return nil, err
		}
		token, err := r.token(c, name)
		if err != nil {
			return nil, err
		}
		targets = append(targets, r.fixture.session.Target.As(nil, token))
		subjects = append(subjects, r.fixture.subject(name))
	}
	_, err := r.create(c, "clients", slices.Concat(joined(subjects)...))
	return targets, err
}

// joined puts a comma between parts of JSON.
func joined(parts [][]byte) (all [][]byte) {
	for i, p := range parts {
		if i > 0 {
			all = append(all, []byte(","))
		}
		all = append(all, p)
	}
	return all
}

// noise is the clients of one run.
type noise struct {
	fixture *fixture
	quiet   []*server.Conn
	loud    *server.Target
	load    measure.Load // of the quiet clients together
	// unprioritized is why the quiet clients do not run before all others; nil: they do.
	unprioritized error
}

// connect opens the connections of the quiet clients, and asks once on each: what it costs to get to know a client is not measured.
func (n *noise) connect(ctx context.Context, targets []*server.Target) error {
	for _, t := range targets {
		c := t.Conn()
		n.quiet = append(n.quiet, c)
		if err := c.Dial(ctx); err != nil {
			return err
		}
		if _, err := c.Expect(http.StatusOK, http.MethodGet, n.fixture.path(0), "", nil); err != nil {
			return err
		}
	}
	return nil
}

// measure lets the quiet clients ask, not all at the same moment. They run before all else that this machine does, if they may: only
// how long the server keeps them waiting is of interest, as if they were on machines of their own.
// Each client has a connection and a sample of its own, so nothing is shared while they ask.
func (n *noise) measure(ctx context.Context) (_ *measure.Sample, err error) {
	end, refused := server.Prioritize()
	if n.unprioritized = refused; refused == nil {
		defer func() { err = errors.Join(err, end()) }()
	}
	parts := make([]measure.Sample, len(n.quiet))
	var group sync.WaitGroup
	m := measure.StartMeter(n.fixture.session.Target)
	for i, c := range n.quiet {
		group.Go(func() {
			// Their first requests are spread over one pause, as those of independent clients are.
			time.Sleep(quietPause * time.Duration(i) / time.Duration(len(n.quiet)))
			for k := 0; ctx.Err() == nil && !n.load.Done(k*len(n.quiet), time.Since(m.Begin)); k++ {
				n.once(c, i+k, &parts[i])
				time.Sleep(quietPause)
			}
		})
	}
	group.Wait()
	sum := &measure.Sample{}
	for i := range parts {
		sum.Add(&parts[i])
	}
	m.Stop(sum)
	return sum, ctx.Err()
}

// measureFlooded is measure beside the noisy client.
func (n *noise) measureFlooded(ctx context.Context) (*measure.Sample, server.FloodCounts, error) {
	paths := make([]string, n.fixture.total)
	for k := range paths {
		paths[k] = n.fixture.path(k)
	}
	flood, err := server.StartFlood(n.loud, paths, noisyConnections)
	if err != nil {
		return nil, server.FloodCounts{}, err
	}
	sample, err := n.measure(ctx)
	counts, stopped := flood.Stop()
	return sample, counts, errors.Join(err, stopped)
}

// once sends one get and counts what became of it. Latencies are those of successes only: a refusal is quick, and would make
// the client look better served than it is.
func (n *noise) once(c *server.Conn, k int, part *measure.Sample) {
	path, before := n.fixture.path(k%n.fixture.total), time.Now()
	status, answer, err := c.Do(http.MethodGet, path, "", nil)
	switch {
	case err != nil:
		part.Fail(err)
	case status != http.StatusOK:
		part.Fail(server.WrongStatus(http.MethodGet, path, status, http.StatusOK, answer))
	default:
		part.Operations++
		part.Bytes += int64(len(answer))
		part.Latencies = append(part.Latencies, time.Since(before))
	}
}
