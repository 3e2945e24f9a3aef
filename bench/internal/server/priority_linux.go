package server

import (
	"errors"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// clientPriority is the lowest one above all processes without one.
const clientPriority = 1

// Prioritize lets this process run whenever it can, before all others: its clients then find out at once that an answer
// has come, as they would on a machine of their own, rather than when the server leaves them a processor. It needs the rights
// for that. What it returns ends it. Processes that are started meanwhile inherit it.
func Prioritize() (end func() error, err error) {
	if err := schedule(unix.SchedAttr{Policy: unix.SCHED_RR, Priority: clientPriority}); err != nil {
		return nil, errors.Join(err, schedule(unix.SchedAttr{Policy: unix.SCHED_NORMAL}))
	}
	return func() error { return schedule(unix.SchedAttr{Policy: unix.SCHED_NORMAL}) }, nil
}

// Deprioritize lets this process run only when no other wants to, on a processor that would be idle.
func Deprioritize() error { return schedule(unix.SchedAttr{Policy: unix.SCHED_IDLE}) }

// schedule sets how the threads of this process are scheduled. A thread that comes later is scheduled as the one that has made it.
func schedule(as unix.SchedAttr) error {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return err
	}
	as.Size = unix.SizeofSchedAttr
	for _, t := range threads {
		id, err := strconv.Atoi(t.Name())
		if err != nil {
			return err
		}
		if err := unix.SchedSetAttr(id, &as, 0); err != nil && !errors.Is(err, unix.ESRCH) {
			return err
		}
	}
	return nil
}
