package statefulset

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// claimName returns the name of a volume claim. It depends only on template, set and ordinal, so
// that a replacement Pod uses the same volume.
func claimName(template, set string, ordinal int64) string {
	return template + "-" + set + "-" + strconv.FormatInt(ordinal, 10)
}

// claimOf returns a new claim from a template. turn.own later adds an owner if the retention policy
// requires one. The claim gets the StatefulSet's selector labels, by which users find claims.
func claimOf(set *reconcile.Item, spec, template tree.Tree, ordinal int64) tree.Tree {
	claim := template.Copy()
	delete(claim, "status")
	metadata := claim.EnsureObject("metadata")
	metadata["name"], metadata["namespace"] = claimName(metadata.String("name"), set.Key.Name, ordinal), set.Key.Namespace
	delete(metadata, "creationTimestamp")
	labels := metadata.EnsureObject("labels")
	matched := spec.Object("selector", "matchLabels")
	maps.Copy(labels, matched)
	return claim
}

func withClaims(pod, spec tree.Tree, set string, ordinal int64) {
	var volumes []any
	claimed := map[string]bool{}
	for _, t := range spec.Objects("volumeClaimTemplates") {
		name := t.Name()
		claimed[name] = true
		volumes = append(volumes, tree.Tree{"name": name, "persistentVolumeClaim": tree.Tree{"claimName": claimName(name, set, ordinal)}})
	}
	podSpec := pod.EnsureObject("spec")
	for _, v := range podSpec.Objects("volumes") {
		if !claimed[v.String("name")] {
			volumes = append(volumes, v)
		}
	}
	if len(volumes) > 0 {
		podSpec["volumes"] = volumes
	}
}

// claim is an existing PersistentVolumeClaim. Patches use its resourceVersion as a precondition.
type claim struct {
	*meta.Object
	references []any // owner references
}

func (t *turn) readClaim(ctx context.Context, name string) (*claim, error) {
	o, object, err := t.claims.ReadNamed(ctx, t.item.Key.Namespace, name)
	if err != nil || o == nil {
		return nil, err
	}
	return &claim{o, object.Object("metadata").List("ownerReferences")}, nil
}

// ensureClaims creates the missing claims of an ordinal. If a claim is terminating or cannot be
// created, it still tries the other templates, and returns all errors. It never changes an existing
// claim, because users may have resized it.
func (t *turn) ensureClaims(ctx context.Context, ordinal int64, pod string) error {
	var faults []error
	for _, template := range t.spec.Objects("volumeClaimTemplates") {
		wanted := claimOf(t.item, t.spec, template, ordinal)
		name := wanted.Name()
		is, err := t.readClaim(ctx, name)
		switch {
		case err != nil:
			faults = append(faults, fmt.Errorf("failed to retrieve PVC %s: %w", name, err))
			continue
		case is != nil && is.Meta.Terminating:
			faults = append(faults, fmt.Errorf("pvc %s is being deleted", name))
			continue
		case is != nil:
			continue
		}
		_, err = t.claims.Create(ctx, wanted)
		switch {
		case err == nil:
			t.Normal("SuccessfulCreate", "Create Claim %s Pod %s in StatefulSet %s success", name, pod, t.item.Key.Name)
		case !reconcile.IsAlreadyExists(err):
			faults = append(faults, fmt.Errorf("failed to create PVC %s: %w", name, err))
			t.Warn("FailedCreate", "Create Claim %s for Pod %s in StatefulSet %s failed error: %v", name, pod, t.item.Key.Name, err)
		}
	}
	return errors.Join(faults...)
}

// A retention determines whether claims are deleted when their StatefulSet is deleted or scaled
// down. The garbage collector deletes claims based on their owner references.
type retention struct{ whenDeleted, whenScaled bool }

func readRetention(spec tree.Tree) retention {
	policy := spec.Object("persistentVolumeClaimRetentionPolicy")
	return retention{policy.String("whenDeleted") == "Delete", policy.String("whenScaled") == "Delete"}
}

// owner returns the kind of object that should own a claim, or "" for none. A Pod owns a claim only
// if its ordinal is surplus after scaling down. Otherwise, the volume would be deleted whenever an
// update replaces the Pod.
func (r retention) owner(surplus bool) string {
	switch {
	case r.whenScaled && surplus:
		return "Pod"
	case r.whenDeleted && !surplus, r.whenDeleted && !r.whenScaled:
		return "StatefulSet"
	}
	return ""
}

// owners returns the desired owner references of a claim. ok is false if the claim must not change,
// because the references are correct, another controller owns the claim, or the claim belongs to an
// earlier set or Pod with the same name. A non-controller reference to the set or Pod is replaced.
// mine records such a reference as "plain".
func (r retention) owners(references []any, set, pod tree.Tree, surplus bool) (changed []any, ok bool) {
	var kept []any
	mine := ""
	for _, v := range references {
		reference, _ := v.(tree.Tree)
		of := ""
		for _, known := range []tree.Tree{set, pod} {
			if known != nil && reference["kind"] == known["kind"] && reference["name"] == known["name"] && reference["apiVersion"] == known["apiVersion"] {
				if reference["uid"] != known["uid"] {
					return nil, false
				}
				of = known.String("kind")
			}
		}
		switch {
		case of != "" && reference.Bool("controller"):
			mine += of
		case of != "":
			mine += "plain"
		case reference.Bool("controller") && (r.whenDeleted || r.whenScaled):
			return nil, false
		default:
			kept = append(kept, v)
		}
	}
	wanted := r.owner(surplus)
	if mine == wanted {
		return nil, false
	}
	switch wanted {
	case "Pod":
		kept = append(kept, pod)
	case "StatefulSet":
		kept = append(kept, set)
	}
	return kept, true
}

// own sets the owners of an ordinal's claims. It is called before a surplus Pod is deleted, and for
// every remaining Pod, so that the StatefulSet owns the claims again after scaling up.
func (t *turn) own(ctx context.Context, s slot, surplus bool) error {
	pod := s.pod
	if pod == nil {
		return nil
	}
	reference := t.Pods.ControllerReference(pod.Key.Name, pod.UID)
	for _, template := range t.spec.Objects("volumeClaimTemplates") {
		is, err := t.readClaim(ctx, claimName(template.Name(), t.item.Key.Name, s.ordinal))
		if err != nil {
			return err
		}
		if is == nil {
			continue
		}
		owners, change := readRetention(t.spec).owners(is.references, t.item.ControllerReference(), reference, surplus)
		if !change {
			continue
		}
		if err := t.claims.Patch(ctx, is.Object, "", tree.Tree{"metadata": tree.Tree{"ownerReferences": owners}}); err != nil {
			return fmt.Errorf("could not update claim %s for delete policy ownerRefs: %w", is.Key.Name, err)
		}
	}
	return nil
}

// staleClaimDelay is the polling interval for stale claims, which are not watched.
const staleClaimDelay = time.Second

// stale reports whether a deleted Pod still owns a claim of an ordinal. No new Pod may be created
// until the garbage collector has deleted the claim.
func (t *turn) stale(ctx context.Context, ordinal int64, pod string) (bool, error) {
	if !readRetention(t.spec).whenScaled {
		return false, nil
	}
	for _, template := range t.spec.Objects("volumeClaimTemplates") {
		is, err := t.readClaim(ctx, claimName(template.Name(), t.item.Key.Name, ordinal))
		if err != nil {
			return false, err
		}
		if is == nil {
			continue
		}
		for _, v := range is.references {
			if r, _ := v.(tree.Tree); r.String("kind") == "Pod" && r.String("name") == pod {
				return true, nil
			}
		}
	}
	return false, nil
}
