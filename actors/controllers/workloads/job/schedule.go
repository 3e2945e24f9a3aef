package job

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A schedule holds the cron schedule of a CronJob and the times needed to find the next Job. Times
// are computed from the last Job, or from the CronJob's creation if there was none.
type schedule struct {
	cron.Schedule
	created  time.Time
	last     time.Time     // time of the last Job; zero for none
	deadline time.Duration // how late a Job may still be created, if limited
	limited  bool          // startingDeadlineSeconds is set
}

var errUnknownZone = errors.New("unknown time zone")

// readSchedule parses the schedule of a CronJob. It checks the time zone first, because an unknown
// time zone has its own Event. A TZ in the schedule itself is allowed, because older objects may
// have one.
func readSchedule(object tree.Tree) (s schedule, err error) {
	spec := object.Object("spec")
	text, zone := spec.String("schedule"), spec.String("timeZone")
	if zone != "" {
		if _, err := time.LoadLocation(zone); err != nil {
			return s, fmt.Errorf("%w: %w", errUnknownZone, err)
		}
	}
	switch {
	case strings.Contains(text, "TZ"): // it has its own zone
		if !strings.Contains(text, " ") {
			return s, errors.New("no schedule after the time zone") // the parser panics on it
		}
	case zone != "":
		text = "TZ=" + zone + " " + text
	}
	s.created, s.last = reconcile.Time(object.Object("metadata"), "creationTimestamp"), reconcile.Time(object.Object("status"), "lastScheduleTime")
	if seconds, ok := spec.Int("startingDeadlineSeconds"); ok {
		s.deadline, s.limited = time.Duration(seconds)*time.Second, true
	}
	s.Schedule, err = cron.ParseStandard(text)
	return s, err
}

// errShortStep uses kube-controller-manager's message. It is also returned for schedules that are
// never due.
var errShortStep = errors.New("time difference between two schedules is less than 1 second")

// tooMany is the number of missed times above which a warning is recorded. They are usually caused
// by clock jumps or long downtime.
const tooMany = 100

// missed is the number of scheduled times since the last Job, estimated from the length of one
// step.
type missed int

// due returns the newest scheduled time that has passed since the last Job, or the zero time. It
// skips earlier missed times, because a CronJob never catches up. from is the start of the search.
// If bounded is set, due also skips times past their starting deadline. It returns an error if the
// schedule has no times or has steps of less than a second.
func (s schedule) due(now time.Time, bounded bool) (from, at time.Time, n missed, err error) {
	from = s.created
	if !s.last.IsZero() {
		from = s.last
	}
	if bounded && s.limited {
		if earliest := now.Add(-s.deadline); earliest.After(from) {
			from = earliest
		}
	}
	first := s.Next(from)
	second := s.Next(first)
	switch {
	case first.IsZero(): // such as February 31
		return from, time.Time{}, 0, errShortStep
	case now.Before(first):
		return from, time.Time{}, 0, nil
	case second.IsZero() || now.Before(second):
		return from, first, 0, nil
	}
	// Estimate from the first step. After a year of downtime, walking a schedule of every minute
	// would take half a million steps.
	step := second.Sub(first).Round(time.Second)
	if step < time.Second {
		return from, time.Time{}, 0, errShortStep
	}
	passed := now.Sub(first)/step + 1
	// Most schedules have equal steps, so the search can start two steps before the estimated end.
	for t := s.Next(first.Add((passed - 2) * step)); !t.IsZero() && !t.After(now); t = s.Next(t) {
		at = t
	}
	return from, at, missed(passed), nil
}

// wakeDelay delays Jobs slightly, so that a fast clock does not create them too early.
const wakeDelay = 100 * time.Millisecond

// next returns the first scheduled time after the last due time, or after now if the last due time
// is unknown. It ignores startingDeadlineSeconds, because missed times must not shift later ones.
func (s schedule) next(now time.Time) time.Time {
	from, at, n, err := s.due(now, false)
	switch {
	case err != nil || at.IsZero() && n > 0:
		from = now
	case !at.IsZero():
		from = at
	}
	return s.Next(from).Add(wakeDelay)
}
