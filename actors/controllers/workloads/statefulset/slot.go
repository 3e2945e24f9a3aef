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

// revisionLabel names the revision of a Pod.
const revisionLabel = "controller-revision-hash"

// A slot is an ordinal of a set.
// The Pod may be on its way out or have ended: an ordinal is taken as long as the object is there, as its name is.
type slot struct {
	ordinal int64
	pod     *cluster.Pod // nil if there is none
}

// A plan is the size of a set and its pace.
// The ordinals are those from start up to, but not including, start+replicas. partition counts from start as well.
// maxUnavailable is at least 1, or no update would ever begin.
type plan struct {
	start, replicas           int64
	parallel, rolls           bool // the strategy RollingUpdate
	hasRolling                bool // spec.updateStrategy.rollingUpdate is there
	partition, maxUnavailable int64
	minReady                  time.Duration
}

// readPlan reads a spec. What is missing has the value that the API gives it by default.
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

// contains tells whether a set should have a Pod of an ordinal.
func (p plan) contains(ordinal int64) bool { return ordinal >= p.start && ordinal < p.start+p.replicas }

// ordinalOf is the number in the name of a Pod of a set; -1 if it is none.
// The number has to be written as the controller writes it, without leading zeros or a sign; otherwise two names would
// be of the same ordinal.
func ordinalOf(set, pod string) int64 {
	number, ok := strings.CutPrefix(pod, set+"-")
	n, err := strconv.ParseInt(number, 10, 32)
	if !ok || err != nil || n < 0 || strconv.FormatInt(n, 10) != number {
		return -1
	}
	return n
}

// maxMissing is how many ordinals without a Pod are looked at in one turn.
// It bounds the memory and time of a turn for a set with very many replicas; later turns come to the rest.
const maxMissing = 500

// arrange puts the Pods of a set into slots: those that it should have, the lowest ordinal first, and those that it
// should not, the highest first. Of the ordinals without a Pod only the lowest are slots; whole says that these are all.
// Pods with names that are not of the set are left out. While whole is false nothing is updated, as ordinals without a
// Pod that are not among the slots would not be counted as unavailable.
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

// missing are the lowest ordinals that are not among slots, which are sorted.
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

// usesCurrent tells whether a new Pod is made of the current revision and not of the newest.
// Without the field rollingUpdate there is no partition. Then as many of the lowest ordinals as the status says have the
// current revision are made of it, so that a Pod lost during an update comes back as it was.
func (p plan) usesCurrent(ordinal, currentReplicas int64) bool {
	if p.hasRolling {
		return ordinal < p.start+p.partition
	}
	return p.rolls && ordinal < p.start+currentReplicas
}

// revisionOf is the name of the revision that a Pod was made of; "" if it has no such label.
func revisionOf(p *cluster.Pod) string {
	name, _ := p.Labels.Get(revisionLabel)
	return name
}

// created tells whether a Pod is there and has begun.
func (s slot) created() bool { return s.pod != nil }

// ready tells whether a Pod runs and is ready, however short a time it has been so.
func (s slot) ready() bool {
	return s.pod != nil && s.pod.Phase == cluster.PodRunning && s.pod.Ready
}

// available tells whether a Pod has been ready for long enough. One that is on its way out still may be.
func (p plan) available(s slot, now time.Time) bool {
	if s.pod == nil {
		return false
	}
	is, _ := s.pod.Available(p.minReady, now)
	return is
}

// unavailable tells whether a slot is without a Pod that works and will.
// It counts against maxUnavailable. A Pod whose deletion has begun counts although it may still serve, since it is about
// to stop.
func (p plan) unavailable(s slot, now time.Time) bool {
	return !p.available(s, now) || s.pod.Terminating
}

// toUpdate are the Pods that are deleted next, to be made anew of the newest revision: from the highest ordinal down to
// the partition, as many as may be missing.
// Pods that do not work for other reasons use up the room as well, so that an update never makes more Pods unavailable
// than is allowed. Those whose deletion was begun by an update before are among them.
func (p plan) toUpdate(slots []slot, newest string, now time.Time) (going []*cluster.Pod) {
	room := p.maxUnavailable
	for _, s := range slots {
		if p.unavailable(s, now) {
			room--
		}
	}
	for i := len(slots) - 1; i >= 0 && slots[i].ordinal >= p.start+p.partition && int64(len(going)) < room; i-- {
		if pod := slots[i].pod; pod != nil && revisionOf(pod) != newest && !pod.Terminating {
			going = append(going, pod)
		}
	}
	return going
}

// counts are the numbers of a status.
// Pods on their way out count as replicas, but neither as current nor as updated: they will be replaced by Pods of a
// revision that may be another.
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

// complete makes the newest revision the current one when every Pod has it.
// It changes the status that is about to be written. From then on the revision before may be deleted from the history.
func (p plan) complete(status tree.Tree) {
	updated := status["updatedReplicas"]
	if p.rolls && updated == status["replicas"] && updated == status["readyReplicas"] && updated == p.replicas {
		status["currentReplicas"], status["currentRevision"] = updated, status["updateRevision"]
	}
}

// recheck is after how long a Pod becomes available that is ready but not yet; 0 for none.
// Nothing changes in the cluster when that time has passed, so no watch would tell of it.
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
