package statefulset

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/workloads/internal/cluster"
	"github.com/troupe-api/troupe/kinds/tree"
)

const revisionLabel = "controller-revision-hash"

// A slot is an ordinal of a StatefulSet and its Pod. Even a terminating Pod occupies its slot,
// because no other Pod can have the same name.
type slot struct {
	ordinal int64
	pod     *cluster.Pod // nil if it does not exist
}

// A plan holds the size and update settings of a StatefulSet. Its ordinals are start to
// start+replicas-1. partition is relative to start. maxUnavailable is at least 1, because otherwise
// an update could not proceed.
type plan struct {
	start, replicas           int64
	parallel, rolls           bool // rolls: strategy RollingUpdate
	hasRolling                bool // spec.updateStrategy.rollingUpdate is set
	partition, maxUnavailable int64
	minReady                  time.Duration
}

func readPlan(spec tree.Tree) plan {
	p := plan{maxUnavailable: 1, parallel: spec.String("podManagementPolicy") == "Parallel"}
	p.start, _ = spec.Object("ordinals").Int("start")
	p.replicas, _ = spec.Int("replicas")
	strategy := spec.Object("updateStrategy")
	p.rolls = strategy.String("type") == "RollingUpdate"
	if rolling := strategy.Object("rollingUpdate"); rolling != nil {
		p.hasRolling = true
		p.partition, _ = rolling.Int("partition")
		if rolling.Has("maxUnavailable") {
			p.maxUnavailable = max(1, cluster.Scaled(rolling["maxUnavailable"], p.replicas, false))
		}
	}
	seconds, _ := spec.Int("minReadySeconds")
	p.minReady = time.Duration(seconds) * time.Second
	return p
}

func (p plan) contains(ordinal int64) bool { return ordinal >= p.start && ordinal < p.start+p.replicas }

// ordinalOf returns the ordinal in a Pod's name, or -1. It rejects signs and leading zeros, because
// two names could otherwise have the same ordinal.
func ordinalOf(set, pod string) int64 {
	number, ok := strings.CutPrefix(pod, set+"-")
	n, err := strconv.ParseInt(number, 10, 32)
	if !ok || err != nil || n < 0 || strconv.FormatInt(n, 10) != number {
		return -1
	}
	return n
}

// maxMissing is the maximum number of missing Pods that one reconciliation creates, to limit its
// memory and time.
const maxMissing = 500

// arrange returns the slots of the desired ordinals, lowest first, and the surplus slots, highest
// first. It includes at most maxMissing empty slots. If there are more, whole is false and no Pod
// may be updated, because the omitted slots would not be counted as unavailable.
func (p plan) arrange(set string, pods []*cluster.Pod) (slots, condemned []slot, whole bool) {
	for _, pod := range pods {
		switch n := ordinalOf(set, pod.Key.Name); {
		case n < 0:
		case p.contains(n):
			slots = append(slots, slot{n, pod})
		default:
			condemned = append(condemned, slot{n, pod})
		}
	}
	byOrdinal := func(a, b slot) int { return cmp.Compare(a.ordinal, b.ordinal) }
	slices.SortFunc(condemned, func(a, b slot) int { return byOrdinal(b, a) })
	slices.SortFunc(slots, byOrdinal)
	missing := p.missing(slots)
	whole = int64(len(slots)+len(missing)) == p.replicas
	slots = append(slots, missing...)
	slices.SortFunc(slots, byOrdinal)
	return slots, condemned, whole
}

// missing returns at most maxMissing empty slots. slots must be sorted.
func (p plan) missing(slots []slot) (missing []slot) {
	next := 0
	for n := p.start; n < p.start+p.replicas && len(missing) < maxMissing; n++ {
		if next < len(slots) && slots[next].ordinal == n {
			next++
		} else {
			missing = append(missing, slot{ordinal: n})
		}
	}
	return missing
}

// usesCurrent reports whether a new Pod gets the current revision instead of the newest. If
// rollingUpdate is set, this depends on the partition. Otherwise, the first currentReplicas
// ordinals get the current revision, so that a Pod lost during an update keeps its revision.
func (p plan) usesCurrent(ordinal, currentReplicas int64) bool {
	if p.hasRolling {
		return ordinal < p.start+p.partition
	}
	return p.rolls && ordinal < p.start+currentReplicas
}

func revisionOf(p *cluster.Pod) string {
	name, _ := p.Labels.Get(revisionLabel)
	return name
}

func (s slot) created() bool { return s.pod != nil }

func (s slot) ready() bool {
	return s.pod != nil && s.pod.Phase == cluster.PodRunning && s.pod.Ready
}

func (p plan) available(s slot, now time.Time) bool {
	if s.pod == nil {
		return false
	}
	is, _ := s.pod.Available(p.minReady, now)
	return is
}

func (p plan) unavailable(s slot, now time.Time) bool {
	return !p.available(s, now) || s.pod.Terminating
}

// toUpdate returns the Pods to delete for the update, from the highest ordinal down to the
// partition. All unavailable Pods count toward maxUnavailable. With Parallel, unavailable Pods are
// deleted regardless of that limit.
func (p plan) toUpdate(slots []slot, newest string, now time.Time) (going []*cluster.Pod) {
	room := p.maxUnavailable
	for _, s := range slots {
		if p.unavailable(s, now) {
			room--
		}
	}
	for i := len(slots) - 1; i >= 0 && slots[i].ordinal >= p.start+p.partition; i-- {
		switch pod := slots[i].pod; {
		case pod == nil || revisionOf(pod) == newest || pod.Terminating:
		case p.parallel && !p.available(slots[i], now):
			going = append(going, pod)
		case room > 0:
			room--
			going = append(going, pod)
		}
	}
	return going
}

// counts returns the replica counts for the status. Terminating Pods are included in replicas, but
// in neither currentReplicas nor updatedReplicas.
func (p plan) counts(pods []slot, current, newest string, now time.Time) tree.Tree {
	var replicas, ready, available, old, updated int64
	for _, s := range pods {
		if !s.created() {
			continue
		}
		replicas++
		if s.ready() {
			ready++
			if p.available(s, now) {
				available++
			}
		}
		if s.pod.Terminating {
			continue
		}
		if revisionOf(s.pod) == current {
			old++
		}
		if revisionOf(s.pod) == newest {
			updated++
		}
	}
	return tree.Tree{
		"replicas": replicas, "readyReplicas": ready, "availableReplicas": available, "currentReplicas": old, "updatedReplicas": updated,
		"currentRevision": current, "updateRevision": newest,
	}
}

// complete makes the newest revision the current one in a status if every Pod has it. The previous
// revision may then be deleted.
func (p plan) complete(status tree.Tree) {
	updated := status["updatedReplicas"]
	if updated == status["replicas"] && updated == status["readyReplicas"] && updated == p.replicas {
		status["currentReplicas"], status["currentRevision"] = updated, status["updateRevision"]
	}
}

// recheck returns the time until the next ready Pod becomes available, or 0. No watch event occurs
// at that time.
func (p plan) recheck(slots []slot, now time.Time) (first time.Duration) {
	for _, s := range slots {
		if s.pod == nil {
			continue
		}
		if _, wait := s.pod.Available(p.minReady, now); wait > 0 && (first == 0 || wait < first) {
			first = wait
		}
	}
	return first
}
