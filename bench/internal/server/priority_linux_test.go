package server

import (
	"errors"
	"os"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

// TestPrioritize: every thread is scheduled before others, and as all are at the end. Who may not do that is told so, and nothing has changed.
func TestPrioritize(t *testing.T) {
	policies := func() map[uint32]bool {
		found := map[uint32]bool{}
		threads, err := os.ReadDir("/proc/self/task")
		if err != nil {
			t.Fatal(err)
		}
		for _, thread := range threads {
			id, err := strconv.Atoi(thread.Name())
			if err != nil {
				t.Fatal(err)
			}
			attr, err := unix.SchedGetAttr(id, 0)
			if err != nil {
				t.Fatal(err)
			}
			found[attr.Policy] = true
		}
		return found
	}
	end, err := Prioritize()
	if errors.Is(err, unix.EPERM) {
		if got := policies(); !got[unix.SCHED_NORMAL] || len(got) != 1 {
			t.Errorf("not permitted, and the policies are %v", got)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if got := policies(); !got[unix.SCHED_RR] || len(got) != 1 {
		t.Errorf("the policies are %v", got)
	}
	if err := end(); err != nil {
		t.Fatal(err)
	}
	if got := policies(); !got[unix.SCHED_NORMAL] || len(got) != 1 {
		t.Errorf("the policies are %v at the end", got)
	}
}
