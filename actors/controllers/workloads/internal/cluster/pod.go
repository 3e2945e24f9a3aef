package cluster

import (
	"cmp"
	"errors"
	"log/slog"
	"math"
	"strconv"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Pod phases.
const (
	PodPending   = "Pending"
	PodRunning   = "Running"
	PodSucceeded = "Succeeded"
	PodFailed    = "Failed"
	PodUnknown   = "Unknown"
)

// A Pod is a cached view of a Pod object. It holds only the fields that most controllers need,
// which saves memory. Controllers read other fields from the store.
type Pod struct {
	reconcile.Head
	Created      time.Time
	Target       string // node of the Pod, or the node that it requires; "" for any
	Phase, Node  string
	Ready        bool
	ReadySince   time.Time // zero if not known
	EndedAt      time.Time // see endOf
	DeletionCost int
	Restarts     int  // maximum of its containers
	AllRestarts  int  // sum over all containers
	Sidecar      int  // maximum of its sidecars
	Tracked      bool // has the finalizer of Jobs
	Index        int  // in an indexed Job; -1 for none
	IndexFails   int  // counted failures of that index before this Pod
	IndexIgnored int  // ignored failures of that index
	Claims       []VolumeClaim
	Deadline     int64 // spec.activeDeadlineSeconds; 0 for none
	Requests     Resources
	Priority     int64
	Gated        bool // has scheduling gates
}

// A VolumeClaim is a volume of a Pod backed by a PersistentVolumeClaim.
type VolumeClaim struct{ Volume, Name string }

// Names holds Pod annotation keys and other names, translated once to the naming profile.
type Names struct {
	DeletionCost, JobTracking, JobIndex, IndexFailures, IndexIgnored string
}

// NewNames translates the names to a naming profile.
func NewNames(n *meta.Naming) Names {
	return Names{
		DeletionCost: n.Translate("controller.platform.io/pod-deletion-cost"), JobTracking: n.Translate("batch.platform.io/job-tracking"),
		JobIndex: n.Translate("batch.platform.io/job-completion-index"), IndexFailures: n.Translate("batch.platform.io/job-index-failure-count"),
		IndexIgnored: n.Translate("batch.platform.io/job-index-ignored-failure-count"),
	}
}

// podView returns a function that creates views. A view does not keep its object in memory.
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

// NewPod returns a view of a decoded Pod. The view must not be cached, because its version, labels
// and owner are not set.
func NewPod(t tree.Tree, names Names) (*Pod, error) {
	metadata := t.Object("metadata")
	p := &Pod{Index: -1, Head: reconcile.Head{
		Key: meta.Key{GroupResource: meta.GroupResource{Resource: "pods"}, Namespace: metadata.String("namespace"), Name: metadata.String("name")},
		UID: metadata.String("uid"), Terminating: metadata.Has("deletionTimestamp"),
	}}
	return p, p.read(t, names)
}

// read sets all fields except Head. Any client may write annotations, so invalid numbers are read
// as 0, and an invalid index as -1. The error lists resource requests that cannot be parsed.
func (p *Pod) read(t tree.Tree, names Names) error {
	metadata, spec, status := t.Object("metadata"), t.Object("spec"), t.Object("status")
	p.Created, p.Phase, p.Node = reconcile.Time(metadata, "creationTimestamp"), status.String("phase"), spec.String("nodeName")
	if ready := tree.FindCondition(status, "Ready"); ready.String("status") == "True" {
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

// readContainers counts restarts. Restarts of init containers other than sidecars count only toward
// AllRestarts.
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

// endOf returns the time at which the last container of a Pod terminated. If a container has not
// terminated, endOf returns the first known of three times: when the Pod became unready, when its
// deletion was requested (one grace period before deletionTimestamp), and when it was created.
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
	if ready := tree.FindCondition(status, "Ready"); at.IsZero() && ready.String("status") == "False" {
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

// Active reports whether the Pod has neither ended nor started terminating.
func (p *Pod) Active() bool { return !p.Ended() && !p.Terminating }

// Ended reports whether the Pod has succeeded or failed.
func (p *Pod) Ended() bool { return p.Phase == PodSucceeded || p.Phase == PodFailed }

// Available reports whether the Pod has been ready for minReady. For a ready Pod that is not yet
// available, the second result is the remaining time. Otherwise it is 0.
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
