package scenario

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/troupe-api/troupe/bench/internal/measure"
	"github.com/troupe-api/troupe/bench/internal/server"
)

// Clients of noisy: those that ask now and then, and how many requests the other one has on their way at a time.
const (
	quietClients = 99
	quietPause   = 50 * time.Millisecond
	noisyStreams = 300
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
	n := noise{fixture: f, quiet: targets[1:], loud: targets[0], load: s.load()}
	alone, err := n.measure(ctx)
	if err != nil {
		return nil, err
	}
	// Only the flood ends with this context; the quiet clients stop by the time.
	flood, stop := context.WithCancel(ctx)
	defer stop()
	var loud measure.Sample
	var flooding sync.WaitGroup
	flooding.Go(func() { loud = n.flood(flood) })
	beside, err := n.measure(ctx)
	stop()
	flooding.Wait()
	if err != nil {
		return nil, err
	}
	s.Note("noisy: the noisy client was answered %d times, and refused %d times", loud.Operations, loud.Errors)
	ratio := float64(beside.Percentile(99)) / float64(max(alone.Percentile(99), 1))
	return []Result{
		{Name: "noisy, none", Sample: alone},
		{Name: "noisy", Sample: beside, Figure: &measure.Figure{Value: ratio, Unit: "× the p99 without it"}},
	}, nil
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
	quiet   []*server.Target
	loud    *server.Target
	load    measure.Load // of the quiet clients together
}

// measure lets the quiet clients ask, not all at the same moment.
// Each client has a connection and a sample of its own, so nothing is shared while they ask.
func (n *noise) measure(ctx context.Context) (*measure.Sample, error) {
	parts := make([]measure.Sample, len(n.quiet))
	var group sync.WaitGroup
	m := measure.StartMeter(n.fixture.session.Target)
	for i, target := range n.quiet {
		group.Go(func() {
			c := target.Conn()
			defer c.Close()
			if err := c.Dial(ctx); err != nil {
				parts[i].Fail(err)
				return
			}
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

// flood asks for as much as it gets. A refusal counts as an error, after which it comes again at once.
func (n *noise) flood(ctx context.Context) measure.Sample {
	parts := make([]measure.Sample, noisyStreams)
	var group sync.WaitGroup
	for i := range parts {
		group.Go(func() {
			c := n.loud.Conn()
			defer c.Close()
			if c.Dial(ctx) != nil {
				return
			}
			for k := i; ctx.Err() == nil; k++ {
				n.once(c, k, &parts[i])
			}
		})
	}
	group.Wait()
	var sum measure.Sample
	for i := range parts {
		// Nobody asks how long the noisy client waits, and it has had very many answers.
		parts[i].Latencies = nil
		sum.Add(&parts[i])
	}
	return sum
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
