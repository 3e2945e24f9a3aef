package volumes

import (
	"cmp"
	"slices"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/quantity"
	"github.com/troupe-api/troupe/kinds/selector"
	"github.com/troupe-api/troupe/kinds/tree"
)

// volume holds the fields of a PersistentVolume that matching needs. capacity is a quantity.
type volume struct {
	name, class, mode, attributesClass, phase, capacity string
	modes                                               []string
	labels                                              meta.Labels
	claim                                               reference // spec.claimRef
	terminating                                         bool
}

// A reference is a volume's claim reference. uid is "" if a user specified only the claim's name.
type reference struct{ namespace, name, uid string }

// requirements holds what a claim requires of a volume. storage is the minimum capacity, as a
// quantity.
type requirements struct {
	claim                        reference
	class, mode, attributesClass string
	modes                        []string
	storage                      string
	selector                     selector.Labels
	waits                        bool // waits for the first consumer: only a volume that refers to the claim is bound
}

const defaultMode = "Filesystem"

func newVolume(o *meta.Object, object tree.Tree, betaClass string) volume {
	spec := object.Object("spec")
	ref := spec.Object("claimRef")
	return volume{
		name: o.Key.Name, class: classOf(object, betaClass), mode: cmp.Or(spec.String("volumeMode"), defaultMode), attributesClass: spec.String("volumeAttributesClassName"),
		phase: object.Object("status").String("phase"), capacity: spec.Object("capacity").String("storage"), modes: spec.Strings("accessModes"),
		labels: o.Meta.Labels, claim: reference{ref.String("namespace"), ref.String("name"), ref.String("uid")}, terminating: o.Meta.Terminating,
	}
}

func classOf(object tree.Tree, betaClass string) string {
	if class, ok := object.Annotations()[betaClass].(string); ok {
		return class
	}
	return object.Object("spec").String("storageClassName")
}

func (r reference) is(claim reference) bool {
	return r.name == claim.name && r.namespace == claim.namespace && (r.uid == "" || r.uid == claim.uid)
}

func (r *requirements) fits(v *volume) bool {
	return v.mode == r.mode && v.attributesClass == r.attributesClass && v.class == r.class && r.large(v) && containsAll(v.modes, r.modes)
}

func (r *requirements) large(v *volume) bool { return quantity.Compare(v.capacity, r.storage) >= 0 }

// find returns the name of the best volume for a claim, or "" if none fits. It prefers a volume
// that refers to the claim, even if the class differs. Otherwise it prefers the fitting volume with
// the fewest access modes, and then the smallest volume.
func (r *requirements) find(volumes map[string]*volume, taken func(name string) bool) string {
	var best *volume
	for _, v := range volumes {
		if v.terminating || v.mode != r.mode || v.attributesClass != r.attributesClass {
			continue
		}
		if v.claim.name != "" {
			if v.claim.is(r.claim) && r.large(v) && (best == nil || best.claim.name == "" || r.before(v, best)) {
				best = v
			}
			continue
		}
		if best != nil && best.claim.name != "" || r.waits || v.phase != "Available" || taken(v.name) || !r.fits(v) || !r.selector.Matches(v.labels) {
			continue
		}
		if best == nil || r.before(v, best) {
			best = v
		}
	}
	if best == nil {
		return ""
	}
	return best.name
}

func (r *requirements) before(a, b *volume) bool {
	return cmp.Or(cmp.Compare(len(a.modes), len(b.modes)), quantity.Compare(a.capacity, b.capacity), cmp.Compare(a.name, b.name)) < 0
}

func containsAll(have, want []string) bool {
	return !slices.ContainsFunc(want, func(mode string) bool { return !slices.Contains(have, mode) })
}
