package audit

import (
	"math/rand/v2"
	"testing"
	"time"
)

func TestAppendTime(t *testing.T) {
	times := []time.Time{
		{}, time.Unix(0, 0), time.Unix(-1, 1000), time.Unix(1763678400, 999_999_999), time.Unix(1763678400, 1000),
		time.Date(2026, 2, 28, 23, 59, 59, 123_456_789, time.FixedZone("", 3600)),
	}
	for range 1000 {
		times = append(times, time.Unix(1763678400+rand.Int64N(3), rand.Int64N(1e9)))
	}
	for _, at := range times {
		want := at.UTC().Format(`"2006-01-02T15:04:05.000000Z"`)
		if got := string(appendTime(nil, at)); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
