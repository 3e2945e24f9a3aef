package scenario

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/troupe-api/troupe/bench/internal/measure"
	"github.com/troupe-api/troupe/bench/internal/server"
)

// A burst: so many times the rate that the server was seen to reach, offered by so many clients. The
// clients are many more than a server lets in at once, by its defaults.
const (
	overloadFactor  = 3
	overloadClients = 1_200
)

// overload: updates as fast as the usual clients get them answered, then a burst of three times that rate,
// which does not wait for answers, then the usual clients again. During the burst an answer 429 is no error
// but what is expected of the server. A server under overload should answer what it can and refuse the rest
// at once, and be the same as before when it is over. The rate before is that of this server on this
// machine, so the burst is one for every server.
func overload(ctx context.Context, s *Session) ([]Result, error) {
	f, err := s.prepare(ctx, s.hotCount())
	if err != nil {
		return nil, err
	}
	defer f.remove()
	load := s.load()
	before, err := load.Drive(ctx, s.Target, f.put(f.total))
	if err != nil {
		return nil, err
	}
	b := burst{
		load:    measure.Load{Concurrency: s.connections("overload: clients", s.scaledSize("overload: clients", overloadClients)), Duration: s.Duration, Count: overloadFactor * s.Count},
		rate:    max(1, overloadFactor*before.Rate()),
		fixture: f,
	}
	during, err := b.run(ctx, s.Target)
	if err != nil {
		return nil, err
	}
	after, err := load.Drive(ctx, s.Target, f.put(f.total))
	if err != nil {
		return nil, err
	}
	if b.withoutRetryAfter.Load() > 0 {
		s.Note("overload: %d answers 429 did not say when to come again", b.withoutRetryAfter.Load())
	}
	if unsent := b.offered.Load() - int64(during.Operations) - int64(during.Errors) - b.refused.Load(); unsent > 0 {
		s.Note("overload: %d of %d requests of the burst were not sent in time, because all clients waited for answers", unsent, b.offered.Load())
	}
	lost := 0.0
	if before.Rate() > 0 {
		lost = 100 * (1 - after.Rate()/before.Rate())
	}
	return []Result{
		{Name: "overload, before", Sample: before},
		{Name: "overload, burst", Sample: during, Figure: &measure.Figure{Value: b.refusedShare(during), Unit: "% answered 429"}},
		{Name: "overload, after", Sample: after, Figure: &measure.Figure{Value: lost, Unit: "% of the rate lost"}},
	}, nil
}

// burst offers requests at a rate, whether or not those before are answered. Clients that wait for answers
// slow down with the server and so cannot overload it; hence the fixed rate.
type burst struct {
	load              measure.Load
	rate              float64 // requests per second
	fixture           *fixture
	offered           atomic.Int64 // requests that were due
	refused           atomic.Int64 // answers 429
	withoutRetryAfter atomic.Int64 // of them without Retry-After
}

// run offers what is due every millisecond to whichever clients are free. The channel has room for as many
// requests as there are clients, so a free one never waits.
// Connections are opened before the meter starts, so handshakes are not part of the burst.
func (b *burst) run(ctx context.Context, target *server.Target) (*measure.Sample, error) {
	conns, err := b.load.Connect(ctx, target)
	defer func() {
		for _, c := range conns {
			c.Close()
		}
	}()
	if err != nil {
		return nil, err
	}
	due := make(chan int, len(conns))
	parts := make([]measure.Sample, len(conns))
	var group sync.WaitGroup
	m := measure.StartMeter(target)
	for i, c := range conns {
		group.Go(func() {
			for n := range due {
				b.once(c, n, &parts[i])
			}
		})
	}
	// The channel is closed only when nothing more is offered; clients then finish what they have begun.
	b.offer(ctx, due, m.Begin)
	close(due)
	group.Wait()
	sum := &measure.Sample{}
	for i := range parts {
		sum.Add(&parts[i])
	}
	m.Stop(sum)
	return sum, ctx.Err()
}

// offer hands out requests as they come due. What finds no free client is dropped. What was not sent is
// noted by the caller.
// The rate is kept over the whole time: what a late tick has missed is offered with the next one.
func (b *burst) offer(ctx context.Context, due chan<- int, begin time.Time) {
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	n := 0
	for ctx.Err() == nil && !b.load.Done(n, time.Since(begin)) {
		<-ticker.C
		for wanted := min(int(b.rate*time.Since(begin).Seconds()), b.load.Count); n < wanted; n++ {
			select {
			// A free client takes it, now or as soon as it looks: the channel holds no more than there are clients.
			case due <- n:
			default:
			}
			b.offered.Add(1)
		}
	}
}

// once sends one request. A refusal is quick and would make latencies look better, so it is no operation.
func (b *burst) once(c *server.Conn, n int, part *measure.Sample) {
	before := time.Now()
	n %= b.fixture.total
	status, answer, err := c.Do(http.MethodPut, b.fixture.path(n), server.TypeJSON, b.fixture.object(n))
	switch {
	case err != nil:
		part.Fail(err)
	// A refusal without Retry-After is counted apart: clients then do not know when to come again.
	case status == http.StatusTooManyRequests:
		b.refused.Add(1)
		if len(c.Response.Header.Peek("Retry-After")) == 0 {
			b.withoutRetryAfter.Add(1)
		}
	case status != http.StatusOK:
		part.Fail(server.WrongStatus(http.MethodPut, b.fixture.path(n), status, http.StatusOK, answer))
	default:
		part.Operations++
		part.Bytes += int64(len(answer))
		part.Latencies = append(part.Latencies, time.Since(before))
	}
}

// refusedShare is in percent of the answers; errors are not counted as answers.
func (b *burst) refusedShare(during *measure.Sample) float64 {
	refused := float64(b.refused.Load())
	if refused == 0 {
		return 0
	}
	return 100 * refused / (refused + float64(during.Operations))
}
