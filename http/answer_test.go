package http

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/authn"
)

// TestPacer: who takes little for long is given up, however regularly it takes it.
func TestPacer(t *testing.T) {
	const grace = 30 * time.Second
	for _, c := range []struct {
		passed time.Duration
		taken  int64
		want   error
	}{
		{10 * time.Second, 0, nil},
		{time.Minute, 30 * leastPace, nil},
		{time.Minute, 20 * leastPace, errSlowReader},
		{time.Hour, 3600 * leastPace, nil},
	} {
		p := pacer{to: io.Discard, begun: time.Now().Add(-c.passed), grace: grace, n: c.taken, seen: c.taken}
		if _, err := p.Write(make([]byte, 2*pieceSize)); !errors.Is(err, c.want) {
			t.Errorf("%d bytes in %v: %v", c.taken, c.passed, err)
		}
	}
}

// TestAnswerBudget: what is taken is given back once, and an answer larger than the budget is the
// only one.
func TestAnswerBudget(t *testing.T) {
	s := &Server{answers: budget{limit: 1 << 20}}
	s.limiters.init(Limits{}, meta.Platform)
	user, admin := &authn.User{Name: "joe"}, &authn.User{Name: "admin", Groups: []string{authn.GroupMasters}}
	x, y, z := exchange{user: user}, exchange{user: user}, exchange{user: user}
	if s.reserve(&x, 700<<10) != nil || s.reserve(&y, 700<<10) == nil || s.reserve(&z, smallAnswer) != nil {
		t.Fatal("the budget is not kept")
	}
	x.hold.shrink(100 << 10)
	if s.reserve(&y, 700<<10) != nil {
		t.Error("what was given back is gone")
	}
	for _, h := range []*hold{&x.hold, &y.hold, &z.hold, &x.hold} {
		h.release()
	}
	if used := s.answers.used.Load(); used != 0 {
		t.Errorf("%d bytes are left", used)
	}
	if s.reserve(&x, 4<<20) != nil || s.reserve(&y, 100<<10) == nil {
		t.Error("a large answer is not alone")
	}
	x.hold.release()
	z.user = admin
	if s.reserve(&x, 1000<<10) != nil || s.reserve(&y, 200<<10) == nil || s.reserve(&z, 200<<10) != nil {
		t.Error("others leave nothing to administrators")
	}
}

// TestGathered: many small writes are few large ones, and none is lost or cut.
func TestGathered(t *testing.T) {
	var want bytes.Buffer
	var got sizes
	err := gathered(func(w io.Writer) error {
		for n := range 500 {
			piece := bytes.Repeat([]byte{byte(n)}, n*7%3000)
			if n == 250 {
				piece = make([]byte, 3*pieceSize)
			}
			want.Write(piece)
			if _, err := w.Write(piece); err != nil {
				return err
			}
		}
		return nil
	})(&got)
	if err != nil || !bytes.Equal(got.all, want.Bytes()) || got.writes > len(got.all)/pieceSize*2+2 {
		t.Errorf("%d bytes of %d in %d writes, %v", len(got.all), want.Len(), got.writes, err)
	}
}

// sizes counts writes.
type sizes struct {
	all    []byte
	writes int
}

func (s *sizes) Write(b []byte) (int, error) {
	s.all, s.writes = append(s.all, b...), s.writes+1
	return len(b), nil
}
