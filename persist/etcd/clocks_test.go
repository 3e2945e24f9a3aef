package etcd

import (
	"testing"
	"time"

	"github.com/troupe-api/troupe/persist/etcd/etcdtest"
)

// TestClocksDiffer checks that followers timestamp commits with their own clock. A writer with a
// wrong clock must not shorten the history or prevent its compaction. Recovered commits keep the
// writers' times, unless these are in the future.
func TestClocksDiffer(t *testing.T) {
	t.Parallel()
	o := Options{Endpoints: etcdtest.Start(t, 1).URLs()}
	begin := time.Now()
	follower := open(t, o)
	for _, off := range []time.Duration{-24 * time.Hour, 24 * time.Hour} {
		skewed := o
		skewed.Now = func() time.Time { return time.Now().Add(off) }
		writer := open(t, skewed)
		same(t, "a write", writer.append(put("/c/n/a", "1", at("/c/n/a", writer.revision("/c/n/a")))), "ok")
		follower.await()
		for name, m := range map[string]*member{"the follower": follower, "the writer": writer} {
			got, clock := m.commits[len(m.commits)-1].Time, m.o.Now()
			if got.After(clock) || got.Before(begin.Add(time.Until(clock)).Add(-time.Second)) {
				t.Errorf("%v off, %s: the commit has the time %v, and it is %v there", off, name, got, clock)
			}
		}
		later := open(t, o)
		got := later.history[len(later.history)-1].Time
		if want := time.Now().Add(min(off, 0)); got.After(want) || got.Before(want.Add(-time.Minute)) {
			t.Errorf("%v off: a log that starts later has the time %v, want about %v", off, got, want)
		}
	}
}
