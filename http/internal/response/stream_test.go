package response

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/troupe-api/troupe/http/internal/wire"
)

// TestMinRateWriter checks that a client is disconnected if its average rate is too low, even if
// it reads at regular intervals.
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

func TestBuffered(t *testing.T) {
	var want bytes.Buffer
	var got writeRecorder
	err := Buffered(func(w io.Writer) error {
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

type writeRecorder struct {
	all    []byte
	writes int
}

func (s *writeRecorder) Write(b []byte) (int, error) {
	s.all, s.writes = append(s.all, b...), s.writes+1
	return len(b), nil
}
