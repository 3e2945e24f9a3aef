package runtime

import (
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

// Strategy is what happens to an owner that has panicked.
type Strategy string

// The strategies.
const (
	Restart Strategy = "restart" // by a fresh owner, after a back-off
	Resume  Strategy = "resume"  // with the state that it has
	Stop    Strategy = "stop"
)

// Supervision says what becomes of owners that have panicked.
type Supervision struct {
	Strategy    Strategy
	MaxRestarts int           // in Window; an owner that panics more often is stopped
	Window      time.Duration //
	Backoff     time.Duration // before the first restart; it doubles with each further one in Window
}

// maxBackoff bounds the wait before a restart.
const maxBackoff = 10 * time.Second

// supervisor carries a Supervision out, and counts.
type supervisor struct {
	settings         Supervision
	logger           *slog.Logger
	panics, restarts atomic.Uint64
}

// HandleFailure implements actor.SupervisorStrategy. It runs on the goroutine of the failed actor,
// whose mailbox is suspended by then.
func (s *supervisor) HandleFailure(_ *actor.ActorSystem, sup actor.Supervisor, child *actor.PID, stats *actor.RestartStatistics, _, _ any) {
	s.panics.Add(1)
	switch s.settings.Strategy {
	case Resume:
		sup.ResumeChildren(child)
		return
	case Stop:
		sup.StopChildren(child)
		return
	}
	stats.Fail()
	failures := stats.NumberOfFailures(s.settings.Window)
	if failures > s.settings.MaxRestarts {
		s.logger.Error("actor stopped: it failed too often", "actor", child.Id, "failures", failures, "window", s.settings.Window)
		sup.StopChildren(child)
		return
	}
	s.restarts.Add(1)
	delay := s.settings.Backoff << min(failures-1, 16)
	if delay <= 0 {
		sup.RestartChildren(child)
		return
	}
	time.AfterFunc(min(delay, maxBackoff), func() { sup.RestartChildren(child) })
}

// notePanic counts and logs a panic that changes nothing of what becomes of its owner.
func (s *supervisor) notePanic(name string, message, reason any) {
	s.panics.Add(1)
	s.logger.Error("panic of an actor in its last message", "actor", name, "message", fmt.Sprintf("%T", message), "reason", fmt.Sprint(reason))
}

var _ actor.SupervisorStrategy = (*supervisor)(nil)
