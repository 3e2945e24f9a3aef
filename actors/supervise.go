package actors

import (
	"log/slog"
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

// supervisor decides what becomes of an actor that has panicked: it restarts after a
// back-off that doubles with each failure in the window, or resumes or stops, as the
// configuration says. An actor that fails too often is stopped; its owner of last
// resort is whoever asks for it next.
type supervisor struct {
	tuning  Tuning
	log     *slog.Logger
	metrics *counters
}

// HandleFailure implements actor.SupervisorStrategy. It runs on the failed actor's
// goroutine, whose mailbox is suspended by then.
func (s *supervisor) HandleFailure(system *actor.ActorSystem, sup actor.Supervisor, child *actor.PID,
	stats *actor.RestartStatistics, reason, _ any) {
	s.metrics.panics.Add(1)
	switch s.tuning.Strategy {
	case StrategyResume:
		sup.ResumeChildren(child)
		return
	case StrategyStop:
		sup.StopChildren(child)
		return
	}
	stats.Fail()
	failures := stats.NumberOfFailures(s.tuning.RestartWindow)
	if failures > s.tuning.MaxRestarts {
		s.log.Error("actor stopped: it failed too often", "actor", child.Id, "failures", failures, "window", s.tuning.RestartWindow)
		sup.StopChildren(child)
		return
	}
	s.metrics.restarts.Add(1)
	delay := s.tuning.RestartBackoff << min(failures-1, 16)
	if delay <= 0 {
		sup.RestartChildren(child)
		return
	}
	time.AfterFunc(min(delay, maxBackoff), func() { sup.RestartChildren(child) })
}

const maxBackoff = 10 * time.Second

var _ actor.SupervisorStrategy = (*supervisor)(nil)
