package job

import (
	"cmp"
	"slices"

	"github.com/troupe-api/troupe/actors/controllers/workloads/internal/cluster"
	"github.com/troupe-api/troupe/kinds/tree"
)

// maxUncounted limits the UIDs in uncountedTerminatedPods, of about 40 bytes each. Further Pods
// wait for the next reconciliation.
const maxUncounted = 500

// track adds ended Pods to the status and returns them. After writing the status, the caller must
// remove their finalizers. more is true if the limit defers Pods to the next reconciliation. Pods
// are processed by index, which keeps completedIndexes short.
func (s *state) track() (release []*cluster.Pod, more bool) {
	listed := s.status.EnsureObject("uncountedTerminatedPods")
	var done []int
	n := len(listed.List("succeeded")) + len(listed.List("failed"))
	add := func(list string, p *cluster.Pod) {
		listed[list] = append(listed.List(list), p.UID)
		n++
	}
	for _, p := range slices.SortedFunc(slices.Values(s.pods), func(a, b *cluster.Pod) int { return cmp.Compare(a.Index, b.Index) }) {
		if !p.Tracked || !s.releasable(p) {
			continue
		}
		if n+len(done) >= maxUncounted {
			return release, s.trackIndexes(done, true)
		}
		release = append(release, p)
		switch {
		case s.uncounted[p.UID] || !s.known(p):
		case p.Phase == cluster.PodSucceeded && s.indexed:
			if !s.before.has(p.Index) {
				done = append(done, p.Index)
			}
		case p.Phase == cluster.PodSucceeded:
			add("succeeded", p)
		case s.fails(p) || s.finish != nil && s.finish.String("type") != successMet:
			if s.verdict(p).counts {
				add("failed", p)
			}
		}
	}
	return release, s.trackIndexes(done, false)
}

// trackIndexes writes the succeeded and failed indexes to the status. Unlike counters, indexes need
// no uids and only one write, because adding an index twice has no effect. It returns more
// unchanged, for convenience.
func (s *state) trackIndexes(done []int, more bool) bool {
	if !s.indexed {
		return more
	}
	all := s.before.with(done)
	s.status["completedIndexes"], s.status["succeeded"] = all.String(), int64(all.total())
	if s.perIndex >= 0 {
		s.status["failedIndexes"] = s.broken.String()
	}
	return more
}

// releasable reports whether a Pod may be counted and lose its finalizer. A failed Pod that will be
// replaced keeps the finalizer, because the next Pod of its index inherits its failure count.
func (s *state) releasable(p *cluster.Pod) bool {
	if s.terminating || s.finish != nil || p.Phase == cluster.PodSucceeded {
		return true
	}
	return s.fails(p) && s.delayed[p.Index] != p
}

func countUncounted(status tree.Tree, tracked map[string]bool) {
	listed := status.Object("uncountedTerminatedPods")
	for _, list := range []string{"succeeded", "failed"} {
		var left []any
		for _, uid := range listed.Strings(list) {
			if tracked[uid] {
				left = append(left, uid)
			} else {
				status[list] = number(status, list) + 1
			}
		}
		if delete(listed, list); left != nil {
			listed[list] = left
		}
	}
}

// announce adds the condition FailureTarget or SuccessCriteriaMet, and sets finish to the final
// condition. The final conditions Complete and Failed must wait, because they guarantee that no Pod
// is running.
func (s *state) announce() {
	c := s.finish
	if c == nil {
		return
	}
	kind := c.String("type")
	if kind == failureTarget || kind == successMet {
		if s.has(kind) == nil {
			s.status["conditions"] = append(slices.Clone(s.status.List("conditions")), c)
		}
		s.finish = s.condition(map[string]string{failureTarget: failed, successMet: complete}[kind], c.String("reason"), c.String("message"))
	}
}

// end adds the final condition and reports whether it did. It first waits for uncounted and
// terminating Pods, because a client that sees the condition must not find running Pods or
// incomplete counters.
func (s *state) end() bool {
	listed := s.status.Object("uncountedTerminatedPods")
	if s.finish == nil || s.going > 0 || len(listed.List("succeeded"))+len(listed.List("failed")) > 0 {
		return false
	}
	s.status["conditions"] = append(slices.Clone(s.status.List("conditions")), s.finish)
	if s.finish.String("type") == complete {
		s.status["completionTime"] = s.finish["lastTransitionTime"]
	}
	return true
}
