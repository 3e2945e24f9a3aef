package volumes

import (
	"context"
	"fmt"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// bindTo performs the next of the four writes that bind a claim to a volume. Each write triggers an
// event that requeues the claim or the volume, and has the resourceVersion as a precondition. The
// volume's claimRef is written first, because several claims may compete for the volume.
func (b *Binder) bindTo(ctx context.Context, c claim, name string) error {
	o, object, err := b.volumes.Read(ctx, b.volumeKey(name))
	if err != nil || o == nil {
		return err
	}
	spec, status := object.Object("spec"), c.tree.Object("status")
	switch ref := spec.Object("claimRef"); {
	case !isOf(ref, c):
		return fmt.Errorf("the volume %s has been bound to the claim %s/%s meanwhile", name, ref.String("namespace"), ref.String("name"))
	case ref.String("uid") != c.Meta.UID:
		return b.bindVolume(ctx, o, c, ref.String("name") == "")
	case object.Object("status").String("phase") != "Bound":
		return b.setVolumePhase(ctx, o, object, "Bound", "")
	case c.tree.Object("spec").String("volumeName") != name || c.annotation(b.bindCompleted) == "":
		return b.bindClaim(ctx, c, name)
	case status.String("phase") == "Bound":
		return nil
	}
	return b.claims.PatchStatus(ctx, c.Object, tree.Tree{
		"phase": "Bound", "accessModes": spec["accessModes"], "capacity": spec["capacity"], "currentVolumeAttributesClassName": spec["volumeAttributesClassName"],
	})
}

// isOf reports whether a volume's claim reference is empty or refers to c. The volume may have been
// bound to another claim since bindTo was called.
func isOf(ref tree.Tree, c claim) bool {
	if uid := ref.String("uid"); uid != "" {
		return uid == c.Meta.UID
	}
	name := ref.String("name")
	return name == "" || name == c.Key.Name && ref.String("namespace") == c.Key.Namespace
}

// bindVolume sets a volume's claim reference. chosen is set if the binder, not a user, chose the
// volume. An annotation records this, so that unbind may remove the whole reference.
func (b *Binder) bindVolume(ctx context.Context, o *meta.Object, c claim, chosen bool) error {
	change := tree.Tree{"spec": tree.Tree{"claimRef": tree.Tree{
		"apiVersion": "v1", "kind": b.claims.Kind.Kind, "namespace": c.Key.Namespace, "name": c.Key.Name, "uid": c.Meta.UID, "resourceVersion": fmt.Sprint(c.Version),
	}}}
	if chosen {
		change["metadata"] = tree.Tree{"annotations": tree.Tree{b.boundByBinder: "yes"}}
	}
	return b.volumes.Patch(ctx, o, "", change)
}

func (b *Binder) bindClaim(ctx context.Context, c claim, name string) error {
	annotations := tree.Tree{b.bindCompleted: "yes"}
	if c.tree.Object("spec").String("volumeName") == "" {
		annotations[b.boundByBinder] = "yes"
	}
	return b.claims.Patch(ctx, c.Object, "", tree.Tree{
		"metadata": tree.Tree{"annotations": annotations}, "spec": tree.Tree{"volumeName": name},
	})
}

func (b *Binder) setVolumePhase(ctx context.Context, o *meta.Object, object tree.Tree, phase, message string) error {
	status := object.Object("status")
	if status.String("phase") == phase && status.String("message") == message {
		return nil
	}
	change := tree.Tree{"phase": phase, "message": nil}
	if message != "" {
		change["message"] = message
	}
	return b.volumes.PatchStatus(ctx, o, change)
}

// syncVolume maintains the phase of a volume, and applies its reclaim policy when its claim is
// deleted. If claimRef has no uid, a user has reserved the volume for a claim that may not exist
// yet. If the uid differs, a new claim has reused the name and must not get the old claim's data.
func (b *Binder) syncVolume(ctx context.Context, key meta.Key) error {
	o, object, err := b.volumes.Read(ctx, key)
	if err != nil || o == nil {
		return err
	}
	ref := object.Object("spec").Object("claimRef")
	if ref.String("uid") == "" { // free or reserved
		return b.setVolumePhase(ctx, o, object, "Available", "")
	}
	found, claimed, err := b.claims.Read(ctx, b.claimKey(reference{namespace: ref.String("namespace"), name: ref.String("name")}))
	if err != nil {
		return err
	}
	switch {
	case found == nil || found.Meta.UID != ref.String("uid"):
		return b.reclaim(ctx, o, object)
	case claimed.Object("spec").String("volumeName") == key.Name:
		return b.setVolumePhase(ctx, o, object, "Bound", "")
	case claimed.Object("spec").String("volumeName") != "":
		return b.unbind(ctx, o, object)
	}
	b.Add(found.Key) // the claim does not refer to the volume yet
	return nil
}

func (b *Binder) unbind(ctx context.Context, o *meta.Object, object tree.Tree) error {
	change := tree.Tree{"spec": tree.Tree{"claimRef": tree.Tree{"uid": nil, "resourceVersion": nil}}}
	if object.Annotations().String(b.boundByBinder) != "" {
		change = tree.Tree{"spec": tree.Tree{"claimRef": nil}, "metadata": tree.Tree{"annotations": tree.Tree{b.boundByBinder: nil}}}
	}
	return b.volumes.Patch(ctx, o, "", change)
}

// reclaim releases a volume whose claim is deleted. It first sets the phase Released, for which
// provisioners watch. A volume that only an in-tree plugin could delete or recycle becomes Failed.
func (b *Binder) reclaim(ctx context.Context, o *meta.Object, object tree.Tree) error {
	if phase := object.Object("status").String("phase"); phase != "Released" && phase != "Failed" {
		return b.setVolumePhase(ctx, o, object, "Released", "")
	}
	reason, message := "", ""
	switch policy := object.Object("spec").String("persistentVolumeReclaimPolicy"); policy {
	case "Retain":
		return nil
	case "Recycle":
		reason, message = "VolumeFailedRecycle", "No recycler plugin found for the volume!"
	case "Delete":
		if object.Annotations().String(b.provisionedBy) != "" {
			return nil
		}
		reason, message = "VolumeFailedDelete", fmt.Sprintf("error getting deleter volume plugin for volume %q: no deletable volume plugin matched", o.Key.Name)
	default:
		reason, message = "VolumeUnknownReclaimPolicy", "Volume has an unrecognized PersistentVolumeReclaimPolicy"
	}
	if object.Object("status").String("phase") == "Failed" {
		return nil
	}
	b.volumes.Warn(o, reason, message)
	return b.setVolumePhase(ctx, o, object, "Failed", message)
}
