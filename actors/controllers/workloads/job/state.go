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

// The conditions of a Job.
const (
	complete      = "Complete"
	failed        = "Failed"
	failureTarget = "FailureTarget"
	successMet    = "SuccessCriteriaMet"
	suspended     = "Suspended"
)

// A state is one turn of a Job that has not ended.
// It reads Pods and writes its own copy of the status, and makes no calls: what it decides can be tested without a
// store. All numbers of Pods include those that are listed in the status but not counted yet.
type state struct {
	spec, status tree.Tree // status is written to
	terminating  bool      // the Job
	now          time.Time
	names        cluster.Names
	verdict      func(*cluster.Pod) verdict // of a failed Pod

	pods   []*cluster.Pod // all
	active []*cluster.Pod

	completions  int64 // math.MaxInt64 where the Job ends with its first success
	parallelism  int64
	indexed      bool
	perIndex     int64 // backoffLimitPerIndex; -1 for none
	replaceEnded bool  // a Pod is replaced when it has ended, and not already when its deletion begins

	uncounted            map[string]bool // uids in the status
	succeeded, failures  int64
	before, done, broken indexes              // succeeded as the status says, and now; failed
	delayed              map[int]*cluster.Pod // the failed Pod that the next one of an index replaces
	newSucceeded         []*cluster.Pod       // have ended and are not in the status yet
	newFailed            []*cluster.Pod

	finish tree.Tree // the condition that the Job ends with, or will; nil while it goes on
	// What becomes of Pods:
	ready, going int64 // ready ones, and those on their way out
}

// newState reads a Job and its Pods. Fields that are missing mean a parallelism of 1, no number of completions, and no
// limit for each index.
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

// number is a field that is a number; 0 if it is not there.
func number(t tree.Tree, field string) int64 {
	n, _ := t.Int(field)
	return n
}

// suspended tells whether the Job asks to be suspended, which may not be told in its status yet.
func (s *state) suspended() bool { return s.spec.Bool("suspend") }

// fails tells whether a Pod counts as failed.
// A Pod whose deletion has begun counts as failed at once, and is replaced; with the policy Failed it only does when it
// has really ended, so that never more Pods run than were asked for.
func (s *state) fails(p *cluster.Pod) bool {
	return p.Phase == cluster.PodFailed || !s.replaceEnded && p.Terminating && p.Phase != cluster.PodSucceeded
}

// known tells whether a Pod has an index of the Job, if that has indexes.
// A Pod without an index, or with one that is too high, is not counted: it was made by somebody else or for another
// number of completions.
func (s *state) known(p *cluster.Pod) bool {
	return !s.indexed || p.Index >= 0 && int64(p.Index) < s.completions
}

// count adds up the Pods.
// A Pod without the finalizer has been counted before and is passed over; one whose uid is in the status is in the
// numbers that these were begun with. Everything else that has ended is new.
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

// countIndexes finds the indexes that have succeeded or failed for good. An index counts once, however many of its Pods
// succeed, so the number of successes is that of the indexes and replaces the one that count has added up.
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

// findDelayed finds, for each index that is to be tried again, the Pod that failed last. It keeps its finalizer until
// it is replaced, for the next Pod goes on counting from it.
// Of several failed Pods of an index it is the one with the most failures behind it; taking another would set back the
// count, and the index could be tried more often than its limit allows.
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

// condition is a condition that is true from now on, with the time of the probe that conditions of Jobs have in
// addition.
func (s *state) condition(kind, reason, message string) tree.Tree {
	c := reconcile.NewCondition(kind, "True", reason, message, s.now)
	c["lastProbeTime"] = c["lastTransitionTime"]
	return c
}

// has is the condition of a type if the status says that it is true; nil otherwise.
func (s *state) has(kind string) tree.Tree {
	if c := reconcile.FindCondition(s.status.List("conditions"), kind); c.String("status") == "True" {
		return c
	}
	return nil
}

// decide finds whether the Job has to end, and how.
// What was announced in an earlier turn stands: a Job that is to fail does not succeed because its last Pod happens to.
// Failure is looked for before success.
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

// policyFailure is why a rule of the podFailurePolicy fails the whole Job; "" if none does.
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

// pastLimitOnFailure: where Pods restart their containers, their restarts count instead.
// Such Pods hardly ever fail themselves, since the kubelet starts their containers again in place. A limit of 0 is
// exceeded by the first restart.
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

// untilDeadline is how long the Job may still run; 0 for as long as it takes, negative if that is over.
// A Job that has not started or is suspended has no deadline yet. Exactly nothing left is told as negative, because 0
// means no deadline.
func (s *state) untilDeadline() time.Duration {
	seconds, ok := s.spec.Int("activeDeadlineSeconds")
	started := reconcile.Time(s.status, "startTime")
	if !ok || s.suspended() || started.IsZero() {
		return 0
	}
	left := started.Add(time.Duration(seconds) * time.Second).Sub(s.now)
	return cmp.Or(left, -1)
}

// setSuspended tells whether the Job is suspended; changed says that it was not told yet.
// A Job that was never suspended gets no condition that says it is not.
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

// finished is the condition that a Job has ended with; nil while it has not.
func finished(status tree.Tree) tree.Tree {
	for _, kind := range []string{complete, failed} {
		if c := reconcile.FindCondition(status.List("conditions"), kind); c.String("status") == "True" {
			return c
		}
	}
	return nil
}

// indexedName is what the names of the Pods of an index begin with.
// The result is cut so that, with the characters that the server adds, it is a DNS label of at most 63 characters.
func indexedName(job string, index int) string {
	const longest = 58 // five characters are added
	suffix := fmt.Sprintf("-%d-", index)
	return job[:min(len(job), longest-len(suffix))] + suffix
}
