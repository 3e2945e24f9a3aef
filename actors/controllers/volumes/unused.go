package volumes

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// unused maintains the Unused condition of bound claims.
type unused struct {
	*reconcile.Controller[meta.Key] // queue of claims
	claims, pods                    reconcile.Client

	mu    sync.Mutex // guards uses and users
	uses  map[meta.Key]map[meta.Key]string
	users reconcile.Index[meta.Key, meta.Key, string] // like uses, by claim and Pod
}

func newUnused(env *reconcile.Env) *unused {
	u := &unused{claims: env.Core("PersistentVolumeClaim"), pods: env.Core("Pod"), uses: map[meta.Key]map[meta.Key]string{}, users: reconcile.Index[meta.Key, meta.Key, string]{}}
	u.Controller = reconcile.New(env, "pvcunused", u.sync, "cannot set a condition of a claim; retrying", "claim")
	u.Watch(u.claims, func(e reconcile.Event) { u.Add(e.Key) })
	u.Watch(u.pods, u.onPod)
	return u
}

// onPod enqueues the claims that a Pod has started or stopped using.
func (u *unused) onPod(e reconcile.Event) {
	now := u.usedBy(e)
	u.mu.Lock()
	defer u.mu.Unlock()
	before := u.uses[e.Key]
	if maps.Equal(before, now) {
		return
	}
	delete(u.uses, e.Key)
	for claim := range before {
		u.users.Delete(claim, e.Key)
		u.Add(claim)
	}
	for claim, uid := range now {
		u.uses[e.Key] = now
		u.users.Put(claim, e.Key, uid)
		u.Add(claim)
	}
}

// usedBy returns the claims that a Pod uses, unless the Pod has terminated. The value is the Pod's
// uid for an ephemeral volume's claim, which the Pod must own, and "" for other claims.
func (u *unused) usedBy(e reconcile.Event) map[meta.Key]string {
	if e.Deleted || !bytes.Contains(e.JSON, []byte(`"claimName":`)) && !bytes.Contains(e.JSON, ephemeralField) {
		return nil
	}
	pod, err := u.pods.Decode(e.Object)
	if status := pod.Object("status"); err != nil || status["phase"] == "Succeeded" || status["phase"] == "Failed" || e.Meta.Terminating && !isRunning(status) {
		return nil
	}
	all, key := map[meta.Key]string{}, e.Key.Clone()
	for _, v := range pod.Object("spec").Objects("volumes") {
		if claim := v.Object("persistentVolumeClaim"); claim != nil {
			all[u.claims.Key(key.Namespace, claim.String("claimName"))] = ""
		} else if v.Has("ephemeral") {
			all[u.claims.Key(key.Namespace, key.Name+"-"+v.String("name"))] = pod.Object("metadata").String("uid")
		}
	}
	return all
}

func isRunning(status tree.Tree) bool {
	return slices.ContainsFunc(slices.Concat(status.Objects("initContainerStatuses"), status.Objects("containerStatuses"), status.Objects("ephemeralContainerStatuses")), func(c tree.Tree) bool {
		state := c.Object("state")
		return !state.Has("terminated") && !state.Has("waiting")
	})
}

func (u *unused) sync(ctx context.Context, key meta.Key) error {
	o, claim, err := u.claims.Read(ctx, key)
	status := claim.Object("status").Copy()
	if err != nil || o == nil || o.Meta.Terminating || status["phase"] != "Bound" {
		return err
	}
	owner := reconcile.ControllerOf(&o.Meta)
	text := [3]string{"True", "NoPodsUsingPVC", "No pods are currently referencing this PVC"}
	u.mu.Lock()
	for _, uid := range u.users[key] {
		if uid == "" || owner != nil && owner.UID == uid {
			text = [3]string{"False", "PodUsingPVC", "A pod is currently referencing this PVC"}
		}
	}
	u.mu.Unlock()
	status["conditions"] = reconcile.SetCondition(status.List("conditions"), reconcile.NewCondition("Unused", text[0], text[1], text[2], time.Now()))
	return u.claims.UpdateStatus(ctx, claim, status)
}
