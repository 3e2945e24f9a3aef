package scenario

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/troupe-api/troupe/bench/internal/measure"
	"github.com/troupe-api/troupe/bench/internal/server"
)

// roleChanges is how many users get their rights, one after the other.
const roleChanges = 200

// changeLimit bounds the wait for one of them. It is long enough for servers that look at their roles every
// few seconds.
const changeLimit = 10 * time.Second

// roleChange: the time from the answered create of a RoleBinding to the answer of the first request that it
// allows. Each user has asked in vain before. Servers that follow their own roles with a delay refuse for a
// while what they have just granted, which scripts trip over. Refusals are counted, since one is enough to
// fail a script.
func roleChange(ctx context.Context, s *Session) ([]Result, error) {
	if !s.Identity.Certificates() {
		s.Note("role-change: not measured, because no CA is known that %s accepts (--user-ca)", s.Target.Address)
		return nil, nil
	}
	f, err := s.prepare(ctx, 1)
	if err != nil {
		return nil, err
	}
	defer f.remove()
	r, err := f.roles()
	if err != nil {
		return nil, err
	}
	admin := s.Target.Conn()
	defer admin.Close()
	if err := admin.Dial(ctx); err != nil {
		return nil, err
	}
	sample, refused := &measure.Sample{}, 0
	m := measure.StartMeter(&server.Target{}) // handshakes and keys cost more than what is looked at
	for n := range min(roleChanges, s.Count) {
		refusals, took, err := r.grant(ctx, admin, fmt.Sprintf("new-user-%d", n))
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		refused += refusals
		if err != nil {
			sample.Fail(err)
			break // the right never came, and the next one will not either
		}
		sample.Operations++
		sample.Latencies = append(sample.Latencies, took)
	}
	m.Stop(sample)
	return []Result{{Name: "role-change", Sample: sample, Figure: &measure.Figure{Value: float64(refused), Unit: "requests refused after the answer"}}}, nil
}

// grant binds one new user and asks as that user until that is allowed. The user's own connection stands
// before the binding is made, so that the handshake is not in the time.
func (r *roles) grant(ctx context.Context, admin *server.Conn, user string) (refused int, took time.Duration, err error) {
	certificate, err := r.fixture.session.Identity.Certificate(user)
	if err != nil {
		return 0, 0, err
	}
	c := r.fixture.session.Target.As(&certificate, "").Conn()
	defer c.Close()
	path := r.fixture.path(0)
	if _, err := c.Expect(http.StatusForbidden, http.MethodGet, path, "", nil); err != nil {
		return 0, 0, err
	}
	if _, err := r.bind(admin, user, user); err != nil {
		return 0, 0, err
	}
	return r.allowed(ctx, c, path)
}

// allowed asks for what is at a path until that is allowed, and tells how often it was refused. It asks
// again at once: the time until the right counts may be less than a millisecond.
func (r *roles) allowed(ctx context.Context, c *server.Conn, path string) (refused int, took time.Duration, err error) {
	answered := time.Now()
	for ctx.Err() == nil {
		status, answer, err := c.Do(http.MethodGet, path, "", nil)
		// Measured at the answer, so the duration of the last request is part of it.
		took = time.Since(answered)
		switch {
		case err != nil:
			return refused, took, err
		case status == http.StatusOK:
			return refused, took, nil
		case status != http.StatusForbidden || took > changeLimit:
			return refused, took, fmt.Errorf("GET %s after %v: status %d: %s", path, took, status, server.Excerpt(answer))
		}
		// No pause: it would be the least time that could be measured.
		refused++
	}
	return refused, took, ctx.Err()
}
