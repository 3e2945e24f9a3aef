package runtime

import (
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

// Strategy selects how the supervisor handles a panic in an owner.
type Strategy string

const (
	Restart Strategy = "restart" // by a new owner, after a backoff
	Resume  Strategy = "resume"  // with its state
	Stop    Strategy = "stop"
)

// Supervision configures how panics are handled.
type Supervision struct {
	Strategy    Strategy
	MaxRestarts int // in Window; an owner that panics more often is stopped
	Window      time.Duration
	Backoff     time.Duration // before the first restart; doubles with each further one in Window
}

const maxBackoff = 10 * time.Second

type supervisor struct {
	settings         Supervision
	logger           *slog.Logger
	panics, restarts atomic.Uint64
}

// HandleFailure applies the strategy to a panic. It runs on the goroutine of the failed actor,
// whose mailbox is suspended.
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
		s.logger.Error("stopped an actor after too many failures", "actor", child.Id, "failures", failures, "window", s.settings.Window)
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

func (s *supervisor) notePanic(name string, message, reason any) {
	s.panics.Add(1)
	s.logger.Error("panic of an actor in its last message", "actor", name, "message", fmt.Sprintf("%T", message), "reason", fmt.Sprint(reason))
}

var _ actor.SupervisorStrategy = (*supervisor)(nil)
