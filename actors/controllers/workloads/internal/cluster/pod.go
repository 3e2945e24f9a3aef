package cluster

import (
	"cmp"
	"errors"
	"log/slog"
	"math"
	"strconv"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/condition"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// The phases of a Pod.
const (
	PodPending   = "Pending"
	PodRunning   = "Running"
	PodSucceeded = "Succeeded"
	PodFailed    = "Failed"
	PodUnknown   = "Unknown"
)

// A Pod is what controllers need of a Pod.
// There are many Pods, and every one that changes is decoded once, so it has what controllers ask of all of them and is
// a fraction of the object. What only few ask for is read from the store.
type Pod struct {
	reconcile.Head
	Created      time.Time
	Target       string // its node or, before it has one, the node that it must have; "" for any
	Phase, Node  string
	Ready        bool
	ReadySince   time.Time // zero if not known
	EndedAt      time.Time // when its containers ended or, if they do not say, when it stopped being ready or began to go
	DeletionCost int
	Restarts     int  // the most of a container
	AllRestarts  int  // of all containers
	Sidecar      int  // the most of an init container that goes on running
	Tracked      bool // has the finalizer of Jobs
	Index        int  // in an indexed Job; -1 for none
	IndexFails   int  // of that index before this Pod, as far as they count
	IndexIgnored int  // and those that do not
	Claims       []VolumeClaim
	Deadline     int64 // spec.activeDeadlineSeconds; 0 for none
	Requests     Resources
	Priority     int64
	Gated        bool // has scheduling gates
}

// A VolumeClaim is a volume of a Pod that is a PersistentVolumeClaim.
type VolumeClaim struct{ Volume, Name string }

// Names are the identifiers with a vendor's name that Pods have, in the spelling of a profile.
// They are translated once, not for each Pod.
type Names struct {
	DeletionCost, JobTracking, JobIndex, IndexFailures, IndexIgnored string
}

// NewNames are the names of a profile.
func NewNames(n *meta.Naming) Names {
	return Names{
		DeletionCost: n.Translate("controller.platform.io/pod-deletion-cost"), JobTracking: n.Translate("batch.platform.io/job-tracking"),
		JobIndex: n.Translate("batch.platform.io/job-completion-index"), IndexFailures: n.Translate("batch.platform.io/job-index-failure-count"),
		IndexIgnored: n.Translate("batch.platform.io/job-index-ignored-failure-count"),
	}
}

// podView makes the views of Pods, which do not refer to the object that they were made of.
func podView(k reconcile.Client, names Names, logger *slog.Logger) func(*meta.Object) *Pod {
	return func(o *meta.Object) *Pod {
		p := &Pod{Head: reconcile.NewHead(o), Index: -1}
		t, err := k.Decode(o)
		if err != nil {
			logger.Error("cannot decode a Pod", "pod", p.Key, "error", err)
			return p
		}
		if err := p.read(t, names); err != nil {
			logger.Error("cannot parse requests of a Pod, so it is not scheduled", "pod", p.Key, "error", err)
		}
		return p
	}
}

// NewPod is the view of a decoded Pod.
// It has no version, labels or owner, so it does not belong in a cache.
func NewPod(t tree.Tree, names Names) (*Pod, error) {
	metadata := t.Object("metadata")
	p := &Pod{Index: -1, Head: reconcile.Head{
		Key: meta.Key{GroupResource: meta.GroupResource{Resource: "pods"}, Namespace: metadata.String("namespace"), Name: metadata.String("name")},
		UID: metadata.String("uid"), Terminating: metadata.Has("deletionTimestamp"),
	}}
	return p, p.read(t, names)
}

// read reads everything but the head. Numbers in annotations that cannot be read count as 0, for anybody may write them;
// an index that cannot be read is none. The error says which of its requests cannot be parsed.
func (p *Pod) read(t tree.Tree, names Names) error {
	metadata, spec, status := t.Object("metadata"), t.Object("spec"), t.Object("status")
	p.Created, p.Phase, p.Node = reconcile.Time(metadata, "creationTimestamp"), status.String("phase"), spec.String("nodeName")
	if ready := condition.Find(status, "Ready"); ready.String("status") == "True" {
		p.Ready, p.ReadySince = true, reconcile.Time(ready, "lastTransitionTime")
	}
	p.Target = cmp.Or(p.Node, requiredNode(spec))
	annotations := metadata.Object("annotations")
	p.DeletionCost, _ = strconv.Atoi(annotations.String(names.DeletionCost))
	if i, err := strconv.Atoi(annotations.String(names.JobIndex)); err == nil {
		p.Index = i
	}
	p.IndexFails, _ = strconv.Atoi(annotations.String(names.IndexFailures))
	p.IndexIgnored, _ = strconv.Atoi(annotations.String(names.IndexIgnored))
	p.EndedAt = endOf(metadata, status, p.Created)
	for _, f := range metadata.Strings("finalizers") {
		p.Tracked = p.Tracked || f == names.JobTracking
	}
	p.Deadline, _ = spec.Int("activeDeadlineSeconds")
	p.Priority, _ = spec.Int("priority")
	requests := resourceReader{unreadable: math.MaxInt64}
	p.Requests = requests.requests(spec, status)
	p.Gated = len(spec.List("schedulingGates")) > 0
	p.readContainers(spec, status)
	for _, v := range spec.Objects("volumes") {
		if claim := v.Object("persistentVolumeClaim"); claim != nil {
			p.Claims = append(p.Claims, VolumeClaim{v.String("name"), claim.String("claimName")})
		}
	}
	return errors.Join(requests.errs...)
}

// readContainers counts restarts. Those of init containers count only in the sum, except for the ones that go on running
// beside the others.
func (p *Pod) readContainers(spec, status tree.Tree) {
	sidecars := map[string]bool{}
	for _, c := range spec.Objects("initContainers") {
		sidecars[c.String("name")] = c.String("restartPolicy") == "Always"
	}
	for _, c := range status.Objects("containerStatuses") {
		n, _ := c.Int("restartCount")
		p.Restarts = max(p.Restarts, int(n))
		p.AllRestarts += int(n)
	}
	for _, c := range status.Objects("initContainerStatuses") {
		n, _ := c.Int("restartCount")
		p.AllRestarts += int(n)
		if sidecars[c.String("name")] {
			p.Sidecar = max(p.Sidecar, int(n))
		}
	}
}

// endOf is when a Pod has ended: its last container, if all have; else when it stopped being ready, when its deletion
// began, or when it was made.
// The time of a deletion is in the future, by the grace period, so that is taken off to find when it was asked for.
func endOf(metadata, status tree.Tree, created time.Time) (at time.Time) {
	for _, c := range status.Objects("containerStatuses") {
		end := reconcile.Time(c.Object("state", "terminated"), "finishedAt")
		if end.IsZero() {
			at = end
			break
		}
		if end.After(at) {
			at = end
		}
	}
	if ready := condition.Find(status, "Ready"); at.IsZero() && ready.String("status") == "False" {
		at = reconcile.Time(ready, "lastTransitionTime")
	}
	if at.IsZero() && metadata.Has("deletionTimestamp") {
		grace, _ := metadata.Int("deletionGracePeriodSeconds")
		at = reconcile.Time(metadata, "deletionTimestamp").Add(-time.Duration(grace) * time.Second)
	}
	if at.IsZero() {
		return created
	}
	return at
}

// requiredNode is the node that the affinity of a Pod names.
// The first such term is taken; the Pods of a DaemonSet have exactly one.
func requiredNode(spec tree.Tree) string {
	required := spec.Object("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
	for _, term := range required.Objects("nodeSelectorTerms") {
		for _, r := range term.Objects("matchFields") {
			if names := r.Strings("values"); r.String("key") == "metadata.name" && r.String("operator") == "In" && len(names) == 1 {
				return names[0]
			}
		}
	}
	return ""
}

// Active tells whether the Pod counts as one that runs or is about to.
func (p *Pod) Active() bool { return !p.Ended() && !p.Terminating }

// Ended tells whether all containers have ended for good.
func (p *Pod) Ended() bool { return p.Phase == PodSucceeded || p.Phase == PodFailed }

// Available tells whether the Pod has been ready for long enough; if not yet, after how long it will be.
// It becomes available without any change of the Pod, so the caller has to come back after that time. The time is 0 if
// it is available already, or if only a change can make it so.
func (p *Pod) Available(minReady time.Duration, now time.Time) (bool, time.Duration) {
	switch {
	case !p.Ready:
		return false, 0
	case minReady <= 0:
		return true, 0
	case p.ReadySince.IsZero():
		return false, 0
	}
	wait := p.ReadySince.Add(minReady).Sub(now)
	return wait <= 0, max(wait, 0)
}
