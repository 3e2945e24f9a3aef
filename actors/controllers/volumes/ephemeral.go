package volumes

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"sync"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Ephemeral makes the claims of Pods with ephemeral volumes. The Pod owns its claims, and the garbage collector deletes
// them after it.
type Ephemeral struct {
	store        reconcile.Store
	pods, claims *schema.Kind
	events       *reconcile.EventRecorder
	logger       *slog.Logger
	queue        *reconcile.Workqueue[meta.Key]
}

// NewEphemeral returns the controller for the kinds of a catalogue.
func NewEphemeral(store reconcile.Store, kinds *catalog.Catalog, logger *slog.Logger) *Ephemeral {
	return &Ephemeral{
		store: store, pods: reconcile.CoreKind(kinds, "Pod"), claims: reconcile.CoreKind(kinds, "PersistentVolumeClaim"),
		events: reconcile.NewEventRecorder(store, kinds, "ephemeral_volume"), logger: logger, queue: reconcile.NewWorkqueue[meta.Key]().Named("ephemeral_volume"),
	}
}

// Run runs the controller until the context ends.
func (e *Ephemeral) Run(ctx context.Context) {
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() { reconcile.RunInformer(ctx, e.store, e.pods, reconcile.UpdateHandlerFunc(e.onPod)) })
	e.queue.Run(ctx, e.sync, func(key meta.Key, err error) {
		e.logger.Warn("the claims of a Pod are missing; they will be tried again", "pod", key.String(), "error", err)
	})
}

// ephemeralField is in the text of every Pod with an ephemeral volume, and of few others.
var ephemeralField = []byte(`"ephemeral":`)

// onPod looks at a Pod that has ephemeral volumes. Of the others, which are most, only the text is searched: a Pod is written
// often, and each time decoding it would cost as much as a tenth of the write.
func (e *Ephemeral) onPod(o *meta.Object) {
	if o.Meta.Terminating || !bytes.Contains(o.JSON, ephemeralField) {
		return
	}
	pod, err := codec.DecodeStored(e.pods.Message(), o.JSON)
	if err != nil {
		e.logger.Error("a Pod cannot be read", "pod", o.Key.String(), "error", err)
		return
	}
	for _, v := range pod.Object("spec").Objects("volumes") {
		if v.Has("ephemeral") {
			e.queue.Add(o.Key)
			return
		}
	}
}

func (e *Ephemeral) sync(ctx context.Context, key meta.Key) error {
	o, pod, err := reconcile.Read(ctx, e.store, e.pods, key)
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

// ensureClaim makes the claim of one volume. One of the same name that the Pod does not own is somebody else's.
func (e *Ephemeral) ensureClaim(ctx context.Context, pod *meta.Object, v tree.Tree) error {
	key := meta.Key{GroupResource: e.claims.Storage, Namespace: pod.Key.Namespace, Name: pod.Key.Name + "-" + v.String("name")}
	found, claim, err := reconcile.Read(ctx, e.store, e.claims, key)
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
	metadata := tree.Tree{"namespace": key.Namespace, "name": key.Name, "ownerReferences": []any{tree.Tree{
		"apiVersion": "v1", "kind": "Pod", "name": pod.Key.Name, "uid": pod.Meta.UID, "controller": true, "blockOwnerDeletion": true,
	}}}
	metadata.CopyField(template.Object("metadata"), "labels")
	metadata.CopyField(template.Object("metadata"), "annotations")
	err = reconcile.Create(ctx, e.store, e.claims, key, tree.Tree{"metadata": metadata, "spec": tree.Clone(template.Object("spec"))})
	if err != nil {
		e.events.Record(ctx, e.pods, pod, reconcile.Warning, "FailedBinding", fmt.Sprintf("ephemeral volume controller: create PVC %s: %v", key.Name, err))
	}
	return err
}
