package statefulset

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// claimName is the name of the claim of a template and an ordinal. It depends on nothing else, so that a new Pod of the
// ordinal finds the volume of the one before.
func claimName(template, set string, ordinal int64) string {
	return template + "-" + set + "-" + strconv.FormatInt(ordinal, 10)
}

// claimOf is the claim that a template makes for an ordinal.
// It has no owner at first; own gives it one if the retention policy says so. The labels of the selector let users find
// the claims of a set.
func claimOf(set *reconcile.Item, spec, template tree.Tree, ordinal int64) tree.Tree {
	claim := template.Copy()
	delete(claim, "status")
	metadata := claim.EnsureObject("metadata")
	metadata["name"], metadata["namespace"] = claimName(metadata.String("name"), set.Key.Name, ordinal), set.Key.Namespace
	delete(metadata, "creationTimestamp")
	labels := metadata.EnsureObject("labels")
	matched := spec.Object("selector", "matchLabels")
	for key, value := range matched {
		labels[key] = value
	}
	return claim
}

// withClaims gives a Pod the claims of its ordinal as volumes, in place of those of the same names.
// A volume of the template with the name of a claim template is dropped, for a Pod cannot have two volumes of one name.
func withClaims(pod, spec tree.Tree, set string, ordinal int64) {
	var volumes []any
	claimed := map[string]bool{}
	for _, t := range spec.Objects("volumeClaimTemplates") {
		name := t.Object("metadata").String("name")
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

// A claim is a volume claim that is there.
// It is read from the store in each turn that needs it. The version goes into the patch of its owners, so that a change
// by somebody else is not overwritten.
type claim struct {
	*meta.Object
	references []any // owners
}

// readClaim reads a claim from the store; nil if there is none of that name.
func (t *turn) readClaim(ctx context.Context, name string) (*claim, error) {
	o, object, err := t.claims.ReadNamed(ctx, t.item.Key.Namespace, name)
	if err != nil || o == nil {
		return nil, err
	}
	return &claim{o, object.Object("metadata").List("ownerReferences")}, nil
}

// ensureClaims makes the claims of an ordinal that are missing. One that is on its way out has to go first.
// All templates are tried even if one fails, so that one wrong template does not hide the errors of the others. Claims
// that are there are never changed here: users may have resized them.
func (t *turn) ensureClaims(ctx context.Context, ordinal int64, pod string) error {
	var faults []error
	for _, template := range t.spec.Objects("volumeClaimTemplates") {
		wanted := claimOf(t.item, t.spec, template, ordinal)
		name := wanted.Object("metadata").String("name")
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

// retention is what becomes of claims; both false retain them.
// Deleting is left to garbage collection: a claim that is to go with the set or with a Pod gets that as its owner.
type retention struct{ whenDeleted, whenScaled bool }

// readRetention reads the policy; without one claims are retained.
func readRetention(spec tree.Tree) retention {
	policy := spec.Object("persistentVolumeClaimRetentionPolicy")
	return retention{policy.String("whenDeleted") == "Delete", policy.String("whenScaled") == "Delete"}
}

// owner is who a claim of an ordinal goes with: the set, its Pod, or neither.
// A surplus ordinal is one that the set was scaled down from. A claim gets its Pod as owner only then, since a Pod that
// is deleted to be updated must not take its volume along.
func (r retention) owner(surplus bool) string {
	switch {
	case r.whenScaled && surplus:
		return "Pod"
	case r.whenDeleted && !surplus, r.whenDeleted && !r.whenScaled:
		return "StatefulSet"
	}
	return ""
}

// owners are the references of a claim as they should be; ok is false if they are, or are not to be touched: someone
// else controls the claim, or an earlier object of the same name still owns it and takes it along.
// mine collects how the set and the Pod own the claim now: their kind where they control it, and a mark that equals no
// kind where they only own it, so that such a reference is replaced.
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

// own gives the claims of an ordinal the owners that the retention policy asks for.
// It is called before a surplus Pod is deleted, as its claims must have it as owner by then; and for every Pod that
// stays, which takes back claims after the set was scaled up again.
func (t *turn) own(ctx context.Context, s slot, surplus bool) error {
	pod := s.pod
	if pod == nil {
		return nil
	}
	reference := t.Pods.ControllerReference(pod.Key.Name, pod.UID)
	for _, template := range t.spec.Objects("volumeClaimTemplates") {
		is, err := t.readClaim(ctx, claimName(template.Object("metadata").String("name"), t.item.Key.Name, s.ordinal))
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

// staleClaimDelay is when a set that waits for the end of a stale claim looks again: claims are not followed, so nothing
// else would bring it back.
const staleClaimDelay = time.Second

// stale tells whether a claim of an ordinal still goes with a Pod that is no more: a new Pod would lose it.
// Garbage collection deletes the claim some time after the Pod. Until then no new Pod is made for it.
func (t *turn) stale(ctx context.Context, ordinal int64, pod string) (bool, error) {
	if !readRetention(t.spec).whenScaled {
		return false, nil
	}
	for _, template := range t.spec.Objects("volumeClaimTemplates") {
		is, err := t.readClaim(ctx, claimName(template.Object("metadata").String("name"), t.item.Key.Name, ordinal))
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
