package volumes

import (
	"bytes"
	"context"
	"fmt"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Ephemeral creates the claims of Pods with ephemeral volumes. The Pod owns its claims, so they are
// garbage collected with it.
type Ephemeral struct {
	*reconcile.Controller[meta.Key] // queue of Pods
	pods, claims                    reconcile.Client
}

func NewEphemeral(env *reconcile.Env) *Ephemeral {
	e := &Ephemeral{pods: env.Core("Pod").Reporting("ephemeral_volume"), claims: env.Core("PersistentVolumeClaim")}
	e.Controller = reconcile.New(env, "ephemeral_volume", e.sync, "cannot create the claims of a Pod; retrying", "pod")
	e.Watch(e.pods, reconcile.Updates(e.onPod))
	return e
}

// ephemeralField occurs in the JSON of every Pod with an ephemeral volume, and of few others.
var ephemeralField = []byte(`"ephemeral":`)

// onPod enqueues Pods with ephemeral volumes. It first searches the JSON, because decoding every
// written Pod would make writes 10% more expensive.
func (e *Ephemeral) onPod(o *meta.Object) {
	if o.Meta.Terminating || !bytes.Contains(o.JSON, ephemeralField) {
		return
	}
	pod, err := e.pods.Decode(o)
	if err != nil {
		e.Log.Error("cannot decode a Pod", "pod", o.Key.String(), "error", err)
		return
	}
	for _, v := range pod.Object("spec").Objects("volumes") {
		if v.Has("ephemeral") {
			e.Add(o.Key)
			return
		}
	}
}

func (e *Ephemeral) sync(ctx context.Context, key meta.Key) error {
	o, pod, err := e.pods.Read(ctx, key)
	if err != nil || o == nil || o.Meta.Terminating {
		return err
	}
	for _, v := range pod.Object("spec").Objects("volumes") {
		if v.Has("ephemeral") {
			if err := e.ensureClaim(ctx, o, v); err != nil {
				return err
			}
		}
	}
	return nil
}

// ensureClaim creates the claim of one volume. It returns an error if the claim exists but the Pod
// does not own it.
func (e *Ephemeral) ensureClaim(ctx context.Context, pod *meta.Object, v tree.Tree) error {
	key := e.claims.Key(pod.Key.Namespace, pod.Key.Name+"-"+v.String("name"))
	found, claim, err := e.claims.Read(ctx, key)
	if err != nil {
		return err
	}
	if found != nil {
		for _, owner := range claim.Object("metadata").Objects("ownerReferences") {
			if owner.String("uid") == pod.Meta.UID {
				return nil
			}
		}
		return fmt.Errorf("PVC %q was not created for pod %q (pod is not owner)", key.Namespace+"/"+key.Name, pod.Key.Namespace+"/"+pod.Key.Name)
	}
	template := v.Object("ephemeral").Object("volumeClaimTemplate")
	metadata := tree.Tree{
		"namespace": key.Namespace, "name": key.Name, "ownerReferences": []any{e.pods.ControllerReference(pod.Key.Name, pod.Meta.UID)},
	}
	metadata.CopyField(template.Object("metadata"), "labels")
	metadata.CopyField(template.Object("metadata"), "annotations")
	_, err = e.claims.Create(ctx, tree.Tree{"metadata": metadata, "spec": tree.Clone(template.Object("spec"))})
	if err = reconcile.Except(err, reconcile.IsNamespaceTerminating, reconcile.IsNotFound); err != nil {
		e.pods.Warn(pod, "FailedBinding", fmt.Sprintf("ephemeral volume controller: create PVC %s: %v", key.Name, err))
	}
	return err
}
