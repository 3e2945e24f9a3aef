package job

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/actors/controllers/workloads/internal/cluster"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Condition types of a Job.
const (
	complete      = "Complete"
	failed        = "Failed"
	failureTarget = "FailureTarget"
	successMet    = "SuccessCriteriaMet"
	suspended     = "Suspended"
)

// A state describes an unfinished Job and its Pods during one reconciliation. It makes no requests
// and changes only its copy of the status, so it can be tested without a store. Its Pod counts
// include the Pods in status.uncountedTerminatedPods.
type state struct {
	spec, status tree.Tree // status is modified
	terminating  bool      // the Job is being deleted
	now          time.Time
	names        cluster.Names
	verdict      func(*cluster.Pod) verdict // for a failed Pod

	pods   []*cluster.Pod // all
	active []*cluster.Pod

	completions  int64 // math.MaxInt64 if the Job ends with its first success
	parallelism  int64
	indexed      bool
	perIndex     int64 // backoffLimitPerIndex; -1 for none
	replaceEnded bool  // replace Pods only when they have ended, not when their deletion begins

	uncounted            map[string]bool // uids in the status
	succeeded, failures  int64
	before, done, broken indexes              // succeeded in the status, and now; failed
	delayed              map[int]*cluster.Pod // per index, the failed Pod to replace
	newSucceeded         []*cluster.Pod       // ended and not in the status yet
	newFailed            []*cluster.Pod

	finish       tree.Tree // condition with which the Job ends; nil while it continues
	ready, going int64     // ready Pods, and terminating Pods
}

func newState(object tree.Tree, pods []*cluster.Pod, names cluster.Names, verdict func(*cluster.Pod) verdict, now time.Time) *state {
	spec := object.Object("spec")
	s := &state{
		spec: spec, status: object.Object("status").Copy(), now: now, names: names, verdict: verdict, pods: pods,
		terminating: object.Object("metadata").Has("deletionTimestamp"), completions: math.MaxInt64, parallelism: 1,
		indexed: spec.String("completionMode") == "Indexed", perIndex: -1, uncounted: map[string]bool{},
		replaceEnded: spec.String("podReplacementPolicy") == "Failed",
	}
	for field, to := range map[string]*int64{"completions": &s.completions, "parallelism": &s.parallelism, "backoffLimitPerIndex": &s.perIndex} {
		if n, ok := spec.Int(field); ok {
			*to = n
		}
	}
	for _, list := range []string{"succeeded", "failed"} {
		for _, uid := range s.status.Object("uncountedTerminatedPods").Strings(list) {
			s.uncounted[uid] = true
		}
	}
	s.count()
	return s
}

func number(t tree.Tree, field string) int64 {
	n, _ := t.Int(field)
	return n
}

func (s *state) suspended() bool { return s.spec.Bool("suspend") }

// fails reports whether a Pod counts as failed. By default, a terminating Pod counts as failed and
// is replaced immediately. With podReplacementPolicy Failed, it does not, so that no more Pods than
// requested run at the same time.
func (s *state) fails(p *cluster.Pod) bool {
	return p.Phase == cluster.PodFailed || !s.replaceEnded && p.Terminating && p.Phase != cluster.PodSucceeded
}

// known reports whether a Pod is included in the counts. A Pod's index may be invalid because
// completions were lowered, or because another client created the Pod.
func (s *state) known(p *cluster.Pod) bool {
	return !s.indexed || p.Index >= 0 && int64(p.Index) < s.completions
}

// count counts the Job's Pods. It starts with the counters and uncounted lists in the status, which
// include all Pods without the finalizer. It then adds terminated Pods that are not listed yet.
func (s *state) count() {
	listed := s.status.Object("uncountedTerminatedPods")
	s.succeeded = number(s.status, "succeeded") + int64(len(listed.List("succeeded")))
	s.failures = number(s.status, "failed") + int64(len(listed.List("failed")))
	for _, p := range s.pods {
		if p.Active() {
			s.active = append(s.active, p)
			if p.Ready {
				s.ready++
			}
		} else if p.Terminating && !p.Ended() {
			s.going++
		}
		if !p.Tracked || s.uncounted[p.UID] || !s.known(p) {
			continue
		}
		switch {
		case p.Phase == cluster.PodSucceeded:
			s.newSucceeded = append(s.newSucceeded, p)
			s.succeeded++
		case s.fails(p):
			s.newFailed = append(s.newFailed, p)
			if s.verdict(p).counts {
				s.failures++
			}
		}
	}
	if s.indexed {
		s.countIndexes()
	}
}

// countIndexes computes the succeeded and failed indexes. The number of succeeded indexes replaces
// the count of successful Pods, because an index counts only once.
func (s *state) countIndexes() {
	below := int(s.completions)
	s.before = parseIndexes(s.status.String("completedIndexes"), below)
	var done, broken []int
	for _, p := range s.pods {
		switch {
		case !p.Tracked || !s.known(p):
		case p.Phase == cluster.PodSucceeded:
			done = append(done, p.Index)
		case s.perIndex >= 0 && s.fails(p):
			if v := s.verdict(p); v.failsIndex || v.counts && int64(p.IndexFails) >= s.perIndex {
				broken = append(broken, p.Index)
			}
		}
	}
	s.done = s.before.with(done)
	s.succeeded = int64(s.done.total())
	if s.perIndex >= 0 {
		s.broken = parseIndexes(s.status.String("failedIndexes"), below).with(broken)
		s.findDelayed()
	}
}

// findDelayed selects the failed Pod to replace for each index that will be retried. The Pod keeps
// its finalizer until it is replaced, because the new Pod inherits its failure count. If several
// Pods of an index failed, the one with the most failures is selected. Otherwise the index could
// exceed its limit.
func (s *state) findDelayed() {
	running := map[int]bool{}
	for _, p := range s.active {
		running[p.Index] = true
	}
	s.delayed = map[int]*cluster.Pod{}
	for _, p := range s.pods {
		if !p.Tracked || !s.known(p) || !s.fails(p) || s.done.has(p.Index) || s.broken.has(p.Index) || running[p.Index] {
			continue
		}
		last := s.delayed[p.Index]
		if last == nil || last.IndexFails+last.IndexIgnored <= p.IndexFails+p.IndexIgnored && !p.EndedAt.Before(last.EndedAt) {
			s.delayed[p.Index] = p
		}
	}
}

func (s *state) condition(kind, reason, message string) tree.Tree {
	c := reconcile.NewCondition(kind, "True", reason, message, s.now)
	c["lastProbeTime"] = c["lastTransitionTime"]
	return c
}

func (s *state) has(kind string) tree.Tree {
	if c := reconcile.FindCondition(s.status.List("conditions"), kind); c.String("status") == "True" {
		return c
	}
	return nil
}

// decide determines whether the Job ends, and with which condition. If the status already has
// SuccessCriteriaMet or FailureTarget, that result is final. Otherwise failure takes precedence
// over success.
func (s *state) decide() {
	if s.finish = s.has(successMet); s.finish != nil {
		return
	}
	if c := s.has(failureTarget); c != nil {
		s.finish = s.condition(failed, c.String("reason"), c.String("message"))
		return
	}
	fail := func(reason, message string) { s.finish = s.condition(failureTarget, reason, message) }
	limit, limited := s.spec.Int("backoffLimit")
	switch why := s.policyFailure(); {
	case why != "":
		fail("PodFailurePolicy", why)
	case limited && (s.failures > limit || s.pastLimitOnFailure(limit)):
		fail("BackoffLimitExceeded", "Job has reached the specified backoff limit")
	case s.untilDeadline() < 0:
		fail("DeadlineExceeded", "Job was active longer than specified deadline")
	}
	if s.finish != nil || !s.indexed {
		return
	}
	most, bounded := s.spec.Int("maxFailedIndexes")
	switch n := int64(s.broken.total()); {
	case bounded && n > most:
		fail("MaxFailedIndexesExceeded", "Job has exceeded the specified maximal number of failed indexes")
	case n > 0 && n+s.succeeded >= s.completions:
		fail("FailedIndexes", "Job has failed indexes")
	default:
		if rule := matchSuccess(s.spec.Object("successPolicy"), s.done, int(s.completions)); rule != "" {
			s.finish = s.condition(successMet, "SuccessPolicy", rule)
		}
	}
}

func (s *state) policyFailure() string {
	if !s.spec.Has("podFailurePolicy") {
		return ""
	}
	for _, p := range s.pods {
		if s.fails(p) {
			if why := s.verdict(p).failsJob; why != "" {
				return why
			}
		}
	}
	return ""
}

// pastLimitOnFailure reports whether a Job with restartPolicy OnFailure has reached its backoff
// limit through container restarts. Its Pods rarely fail, because the kubelet restarts containers
// in place. The first restart exceeds a limit of 0.
func (s *state) pastLimitOnFailure(limit int64) bool {
	if s.spec.Object("template", "spec").String("restartPolicy") != "OnFailure" {
		return false
	}
	restarts := 0
	for _, p := range s.pods {
		if p.Phase == cluster.PodRunning || p.Phase == cluster.PodPending {
			restarts += p.AllRestarts
		}
	}
	if limit == 0 {
		return restarts > 0
	}
	return int64(restarts) >= limit
}

func (s *state) untilDeadline() time.Duration {
	seconds, ok := s.spec.Int("activeDeadlineSeconds")
	started := reconcile.Time(s.status, "startTime")
	if !ok || s.suspended() || started.IsZero() {
		return 0
	}
	left := started.Add(time.Duration(seconds) * time.Second).Sub(s.now)
	return cmp.Or(left, -1)
}

// setSuspended updates the Suspended condition and reports whether it has changed. A Job that was
// never suspended gets no condition.
func (s *state) setSuspended() (changed bool) {
	status, reason, message := "False", "JobResumed", "Job resumed"
	if s.suspended() {
		status, reason, message = "True", "JobSuspended", "Job suspended"
	}
	conditions := s.status.List("conditions")
	is := reconcile.FindCondition(conditions, suspended)
	if is == nil && status == "False" || is.String("status") == status {
		return false
	}
	c := s.condition(suspended, reason, message)
	c["status"] = status
	s.status["conditions"] = append(reconcile.RemoveCondition(conditions, suspended), c)
	return true
}

func finished(status tree.Tree) tree.Tree {
	for _, kind := range []string{complete, failed} {
		if c := reconcile.FindCondition(status.List("conditions"), kind); c.String("status") == "True" {
			return c
		}
	}
	return nil
}

// indexedName returns the generateName for Pods of an index. It is truncated so that the generated
// name is a DNS label of at most 63 characters.
func indexedName(job string, index int) string {
	const longest = 58 // the server adds five characters
	suffix := fmt.Sprintf("-%d-", index)
	return job[:min(len(job), longest-len(suffix))] + suffix
}
