package etcd

import (
	"testing"
	"testing/synctest"

	"github.com/troupe-api/troupe/persist"
)

func TestConfirmationsAreShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c confirmations
		asked, answer := 0, make(chan struct{})
		ask := func() (persist.Revision, error) {
			asked++
			n := asked
			<-answer
			return persist.Revision(n), nil
		}
		first := c.join(ask)
		synctest.Wait() // the request is in progress
		var later []*confirmation
		for range 100 {
			later = append(later, c.join(ask))
		}
		answer <- struct{}{}
		synctest.Wait()
		if <-first.done; first.revision != 1 {
			t.Errorf("the first reader has the answer to question %d", first.revision)
		}
		answer <- struct{}{}
		for _, q := range later {
			if <-q.done; q.revision != 2 {
				t.Fatalf("a reader that came during question 1 has the answer to question %d", q.revision)
			}
		}
		synctest.Wait()
		if asked != 2 || c.running {
			t.Errorf("%d questions for 101 readers, running %v", asked, c.running)
		}
		last := c.join(ask)
		answer <- struct{}{}
		if <-last.done; last.revision != 3 {
			t.Errorf("a reader that came after the answers has that to question %d", last.revision)
		}
	})
}
