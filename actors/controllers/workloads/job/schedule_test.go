package job

import (
	"testing"
	"time"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/tree"
)

func cronTree(schedule, zone, created, last string, deadline any) tree.Tree {
	t := tree.Tree{"metadata": tree.Tree{"creationTimestamp": created}, "spec": tree.Tree{"schedule": schedule, "timeZone": zone}, "status": tree.Tree{"lastScheduleTime": last}}
	if deadline != nil {
		t.Object("spec")["startingDeadlineSeconds"] = deadline
	}
	return t
}

func TestSchedule(t *testing.T) {
	const day = "2026-03-10T"
	for _, c := range []struct {
		name, schedule, zone, created, last string
		deadline                            any
		now, due, next                      string // "" for none
		missed                              missed
	}{
		{"not yet", "0 * * * *", "UTC", day + "10:05:00Z", "", nil, day + "10:59:59Z", "", day + "11:00:00Z", 0},
		{"now", "0 * * * *", "UTC", day + "10:05:00Z", "", nil, day + "11:00:00Z", day + "11:00:00Z", day + "12:00:00Z", 0},
		{"done", "0 * * * *", "UTC", day + "10:05:00Z", day + "11:00:00Z", nil, day + "11:30:00Z", "", day + "12:00:00Z", 0},
		{"some missed", "0 * * * *", "UTC", day + "00:05:00Z", day + "01:00:00Z", nil, day + "11:30:00Z", day + "11:00:00Z", day + "12:00:00Z", 10},
		{"many missed", "* * * * *", "UTC", day + "00:00:00Z", "", nil, day + "11:30:20Z", day + "11:30:00Z", day + "11:31:00Z", 690},
		{"missed beyond the deadline", "0 * * * *", "UTC", day + "00:05:00Z", day + "01:00:00Z", int64(60), day + "11:30:00Z", "", day + "12:00:00Z", 0},
		{"within the deadline", "0 * * * *", "UTC", day + "00:05:00Z", day + "01:00:00Z", int64(3600), day + "11:30:00Z", day + "11:00:00Z", day + "12:00:00Z", 0},
		{"in a zone", "0 9 * * *", "America/New_York", day + "00:00:00Z", "", nil, day + "13:30:00Z", day + "13:00:00Z", "2026-03-11T13:00:00Z", 0},
	} {
		s, err := readSchedule(cronTree(c.schedule, c.zone, c.created, c.last, c.deadline))
		if err != nil {
			t.Fatal(c.name, err)
		}
		now, _ := time.Parse(time.RFC3339, c.now)
		_, at, n, err := s.due(now, true)
		text := ""
		if !at.IsZero() {
			text = at.UTC().Format(time.RFC3339)
		}
		if err != nil || text != c.due || n != c.missed {
			t.Errorf("%s: due %q after %d, %v; want %q after %d", c.name, text, n, err, c.due, c.missed)
		}
		if next := s.next(now).Add(-wakeDelay); c.next != "" && next.UTC().Format(time.RFC3339) != c.next {
			t.Errorf("%s: next %s, want %s", c.name, next.UTC(), c.next)
		}
	}
	never := must.Get(readSchedule(cronTree("0 0 31 2 *", "UTC", day+"00:00:00Z", "", nil)))(t)
	now, _ := time.Parse(time.RFC3339, day+"13:30:00Z")
	if _, at, _, err := never.due(now, true); err == nil || !at.IsZero() || never.next(now).After(now) {
		t.Errorf("February 31 is due at %s, %v, next at %s", at, err, never.next(now))
	}
	for _, bad := range [][2]string{{"* * * *", ""}, {"TZ=UTC", ""}, {"* * * * *", "Nowhere/At_All"}} {
		if _, err := readSchedule(cronTree(bad[0], bad[1], "", "", nil)); err == nil {
			t.Errorf("%q in %q is read", bad[0], bad[1])
		}
	}
}

func TestBackoff(t *testing.T) {
	now := time.Unix(10_000, 0)
	for failures, want := range map[int]time.Duration{0: 0, 1: 10 * time.Second, 2: 20 * time.Second, 6: 320 * time.Second, 7: 10 * time.Minute, 1000: 10 * time.Minute} {
		if got := (backoff{failures: failures, last: now}).remaining(now); got != want {
			t.Errorf("after %d failures %v, want %v", failures, got, want)
		}
	}
	if got := (backoff{failures: 1, last: now.Add(-time.Minute)}).remaining(now); got != 0 {
		t.Errorf("%v are left of a delay that is over", got)
	}
}

func TestJudge(t *testing.T) {
	pod := func(code int64, condition string) tree.Tree {
		return tree.Tree{"metadata": tree.Tree{"namespace": "n", "name": "p"}, "status": tree.Tree{
			"containerStatuses": []any{tree.Tree{"name": "c", "state": tree.Tree{"terminated": tree.Tree{"exitCode": code}}}},
			"conditions":        []any{tree.Tree{"type": condition, "status": "True"}},
		}}
	}
	codes := func(action, operator string, values ...any) tree.Tree {
		return tree.Tree{"action": action, "onExitCodes": tree.Tree{"operator": operator, "values": values}}
	}
	policy := tree.Tree{"rules": []any{
		codes("Ignore", "In", int64(3)), codes("FailIndex", "In", int64(4)), codes("FailJob", "NotIn", int64(3), int64(4), int64(5), int64(6)),
		tree.Tree{"action": "FailJob", "onPodConditions": []any{tree.Tree{"type": "DisruptionTarget", "status": "True"}}},
	}}
	for _, c := range []struct {
		pod  tree.Tree
		want verdict
	}{
		{pod(3, ""), verdict{}},
		{pod(4, ""), verdict{counts: true, failsIndex: true}},
		{pod(5, ""), verdict{counts: true}},
		{pod(0, ""), verdict{counts: true}},
		{pod(9, ""), verdict{counts: true, failsJob: "Container c for pod n/p failed with exit code 9 matching FailJob rule at index 2"}},
		{pod(6, "DisruptionTarget"), verdict{counts: true, failsJob: "Pod n/p has condition DisruptionTarget matching FailJob rule at index 3"}},
	} {
		if got := evaluateFailurePolicy(policy, c.pod); got != c.want {
			t.Errorf("%v: %+v, want %+v", c.pod, got, c.want)
		}
	}
}
