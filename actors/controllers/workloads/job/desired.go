package job

import (
	"cmp"
	"math"
	"slices"

	"github.com/troupe-api/troupe/actors/controllers/workloads/internal/cluster"
)

// wantedActive returns the number of Pods that should run. A Job without completions is a work
// queue. After its first success, the remaining Pods finish and are not replaced.
func (s *state) wantedActive() int64 {
	if s.completions == math.MaxInt64 {
		if s.succeeded > 0 {
			return int64(len(s.active))
		}
		return s.parallelism
	}
	return max(0, min(s.completions-s.succeeded, s.parallelism))
}

// surplus returns up to n active Pods to delete, or more if more Pods have duplicate or invalid
// indexes. If two Pods have the same index, it keeps the Pod with more progress.
func (s *state) surplus(n int) []*cluster.Pod {
	rest := slices.SortedFunc(slices.Values(s.active), younger)
	var going []*cluster.Pod
	if s.indexed {
		kept := map[int]*cluster.Pod{}
		rest = rest[:0]
		for _, p := range slices.SortedFunc(slices.Values(s.active), younger) {
			other := kept[p.Index]
			switch {
			case !s.known(p):
				going = append(going, p)
				continue
			case other != nil:
				going = append(going, other)
			}
			kept[p.Index] = p
		}
		for _, p := range kept {
			rest = append(rest, p)
		}
		slices.SortFunc(rest, younger)
	}
	if more := n - len(going); more > 0 {
		going = append(going, rest[:min(more, len(rest))]...)
	}
	return going
}

// younger sorts Pods by how little progress their deletion loses. Pods without a node come first,
// followed by pending, unready, recently ready, often restarted and young Pods. Names break ties.
func younger(a, b *cluster.Pod) int {
	rank := func(p *cluster.Pod) int {
		n := map[string]int{cluster.PodRunning: 2, cluster.PodUnknown: 1}[p.Phase]
		if p.Node != "" {
			n += 4
		}
		return n
	}
	yes := func(is bool) int {
		if is {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(yes(a.Ready), yes(b.Ready)), b.ReadySince.Compare(a.ReadySince),
		cmp.Compare(b.Restarts, a.Restarts), b.Created.Compare(a.Created), cmp.Compare(a.Key.Name, b.Key.Name))
}

// pending returns up to n indexes that need a Pod. With podReplacementPolicy Failed, a terminating
// Pod still holds its index.
func (s *state) pending(n int) []int {
	var taken []int
	for _, p := range s.pods {
		if p.Index >= 0 && (p.Active() || s.replaceEnded && p.Terminating && !p.Ended()) {
			taken = append(taken, p.Index)
		}
	}
	return s.done.with(taken).merge(s.broken).missing(n, int(s.completions))
}
