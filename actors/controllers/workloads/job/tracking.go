package job

import (
	"cmp"
	"slices"

	"github.com/troupe-api/troupe/actors/controllers/workloads/internal/cluster"
	"github.com/troupe-api/troupe/kinds/tree"
)

// maxUncounted bounds the uids in a status.
// Each takes about 40 bytes in the object, which is written whole each time; what is beyond waits for the next turn.
const maxUncounted = 500

// track lists the Pods that have ended in the status, and returns those that lose their finalizer. more says that
// some have to wait for the next turn.
// Nothing is released that the caller has not yet written: the finalizers are removed only after the status with these
// uids is in the store. Pods are taken in the order of their indexes, so that completedIndexes grows from the front and
// stays short.
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

// trackIndexes writes the indexes that have succeeded and failed. They need no list of uids: adding an index to a set
// twice does no harm, so one write is enough.
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

// releasable tells whether a Pod may be counted and lose its finalizer. While the Job goes on, a failed Pod that the
// next one of its index continues from keeps it. When the Job ends or is deleted, all are let go.
func (s *state) releasable(p *cluster.Pod) bool {
	if s.terminating || s.finish != nil || p.Phase == cluster.PodSucceeded {
		return true
	}
	return s.fails(p) && s.delayed[p.Index] != p
}

// countUncounted counts the uids whose Pods have lost their finalizer.
// tracked holds the uids of the Pods that still have it; these stay listed. A Pod that is not there at all has lost it.
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

// announce writes how the Job will end into its status, and makes finish the condition that it ends with.
// Clients learn from it early that the Job will not go on, while Complete and Failed promise that no Pod of it runs.
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

// end writes that the Job has ended, unless a Pod is still to be counted or on its way out.
// Were it written earlier, a client that deletes the Job or starts the next one on seeing the condition could meet Pods
// that still run, or find numbers that are too low.
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
