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

// A schedule is when a CronJob makes Jobs. Its times are computed from the last one.
// While there is no last Job, times are computed from when the CronJob was created, so that a new CronJob does not run
// for times that lie before it.
type schedule struct {
	cron.Schedule
	created  time.Time
	last     time.Time     // of the Job that was made last; zero for none
	deadline time.Duration // how long after its time a Job may still be made; 0 for as long as it takes
	limited  bool          // there is a deadline
}

// errUnknownZone: the time zone is none that is known here.
var errUnknownZone = errors.New("unknown time zone")

// readSchedule reads the schedule of a CronJob.
// The zone is checked before the text is parsed, because the two errors are told by different Events. A text with a zone
// of its own keeps it: validation refuses it now, but objects may have been stored earlier.
func readSchedule(object tree.Tree) (s schedule, err error) {
	spec := object.Object("spec")
	text, zone := spec.String("schedule"), spec.String("timeZone")
	if zone != "" {
		if _, err := time.LoadLocation(zone); err != nil {
			return s, fmt.Errorf("%w: %w", errUnknownZone, err)
		}
	}
	switch {
	case strings.Contains(text, "TZ"): // has one of its own
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

// errShortStep has the text of kube-controller-manager, which uses it for schedules without any time as well.
var errShortStep = errors.New("time difference between two schedules is less than 1 second")

// tooMany is how many missed times are told of.
// More than these usually mean a clock that has jumped or a controller that was down for long; it is a warning only.
const tooMany = 100

// A missed is how many times have passed since the last Job.
// It is computed from the length of a step and therefore an estimate where the schedule is uneven.
type missed int

// due is the last time that has come since the last Job; zero for none. from is where the search began. bounded begins
// it no earlier than the deadline allows.
// Only the newest of several missed times is returned: a CronJob never catches up by running once for each of them. An
// error means that the schedule has no time at all, or steps of less than a second, with which no estimate is possible.
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
	// The number of missed times is estimated from the first step, instead of walking through all of them: a schedule of
	// every minute whose CronJob was down for a year would take half a million steps.
	step := second.Sub(first).Round(time.Second)
	if step < time.Second {
		return from, time.Time{}, 0, errShortStep
	}
	passed := now.Sub(first)/step + 1
	// Most schedules are even, so that only the last step has to be walked.
	for t := s.Next(first.Add((passed - 2) * step)); !t.IsZero() && !t.After(now); t = s.Next(t) {
		at = t
	}
	return from, at, missed(passed), nil
}

// wakeDelay is how long after its time a Job is made, so that clocks which differ a little do not make it too early.
const wakeDelay = 100 * time.Millisecond

// next is when to look again.
// It is the first time after the last one that has come, or after now if that cannot be told. The search is not bounded
// by the deadline, since a time that is missed must not move the times that follow.
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

// tooLate tells whether a time has passed for too long.
// Without startingDeadlineSeconds no time is too late, however long ago it was.
func (s schedule) tooLate(at, now time.Time) bool {
	return s.limited && at.Add(s.deadline).Before(now)
}
