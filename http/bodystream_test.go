package http

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/troupe-api/troupe/http/internal/limits"
	"github.com/troupe-api/troupe/http/internal/wire"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/authn"
)

// TestMinRateWriter: who takes little for long is given up, however regularly it takes it.
func TestMinRateWriter(t *testing.T) {
	const grace = 30 * time.Second
	for _, c := range []struct {
		passed time.Duration
		taken  int64
		want   error
	}{
		{10 * time.Second, 0, nil},
		{time.Minute, 30 * minResponseRate, nil},
		{time.Minute, 20 * minResponseRate, errSlowReader},
		{time.Hour, 3600 * minResponseRate, nil},
	} {
		p := minRateWriter{to: io.Discard, start: time.Now().Add(-c.passed), grace: grace, n: c.taken, checked: c.taken}
		if _, err := p.Write(make([]byte, 2*wire.MaxWriteSize)); !errors.Is(err, c.want) {
			t.Errorf("%d bytes in %v: %v", c.taken, c.passed, err)
		}
	}
}

// TestResponseBudget: what is taken is given back once, and an answer larger than the budget is the
// only one.
func TestResponseBudget(t *testing.T) {
	s := &Server{responseBudget: limits.NewBudget(1 << 20)}
	s.limiters.init(Limits{}, meta.Platform)
	user, admin := &authn.User{Name: "joe"}, &authn.User{Name: "admin", Groups: []string{authn.GroupMasters}}
	x, y, z := requestContext{user: user}, requestContext{user: user}, requestContext{user: user}
	if s.reserveResponse(&x, 700<<10) != nil || s.reserveResponse(&y, 700<<10) == nil || s.reserveResponse(&z, maxBufferedResponse) != nil {
		t.Fatal("the budget is not kept")
	}
	x.reservation.Shrink(100 << 10)
	if s.reserveResponse(&y, 700<<10) != nil {
		t.Error("what was given back is gone")
	}
	for _, h := range []*limits.Reservation{&x.reservation, &y.reservation, &z.reservation, &x.reservation} {
		h.Release()
	}
	if used := s.responseBudget.Used(); used != 0 {
		t.Errorf("%d bytes are left", used)
	}
	if s.reserveResponse(&x, 4<<20) != nil || s.reserveResponse(&y, 100<<10) == nil {
		t.Error("a large answer is not alone")
	}
	x.reservation.Release()
	z.user = admin
	if s.reserveResponse(&x, 1000<<10) != nil || s.reserveResponse(&y, 200<<10) == nil || s.reserveResponse(&z, 200<<10) != nil {
		t.Error("others leave nothing to administrators")
	}
}

// TestBuffered: many small writes are few large ones, and none is lost or cut.
func TestBuffered(t *testing.T) {
	var want bytes.Buffer
	var got writeRecorder
	err := buffered(func(w io.Writer) error {
		for n := range 500 {
			piece := bytes.Repeat([]byte{byte(n)}, n*7%3000)
			if n == 250 {
				piece = make([]byte, 3*wire.MaxWriteSize)
			}
			want.Write(piece)
			if _, err := w.Write(piece); err != nil {
				return err
			}
		}
		return nil
	})(&got)
	if err != nil || !bytes.Equal(got.all, want.Bytes()) || got.writes > len(got.all)/wire.MaxWriteSize*2+2 {
		t.Errorf("%d bytes of %d in %d writes, %v", len(got.all), want.Len(), got.writes, err)
	}
}

// writeRecorder counts writes.
type writeRecorder struct {
	all    []byte
	writes int
}

func (s *writeRecorder) Write(b []byte) (int, error) {
	s.all, s.writes = append(s.all, b...), s.writes+1
	return len(b), nil
}
