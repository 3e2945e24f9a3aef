package autoscaling

import (
	"encoding/json"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/quantity"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// autoscalerAnnotations contains the names of the annotations of older versions, which are never
// stored.
type autoscalerAnnotations struct {
	metrics, behavior, conditions, currentMetrics string
	tolerance                                     map[string]string // by direction
}

// newAutoscalerAnnotations uses kube-apiserver's annotation names, so that old versions exported
// from Kubernetes can be imported.
func newAutoscalerAnnotations(n *meta.Naming) autoscalerAnnotations {
	name := func(s string) string { return n.Translate("autoscaling.alpha.platform.io/" + s) }
	return autoscalerAnnotations{
		metrics: name("metrics"), behavior: name("behavior"), conditions: name("conditions"), currentMetrics: name("current-metrics"),
		tolerance: map[string]string{"scaleUp": name("scale-up-tolerance"), "scaleDown": name("scale-down-tolerance")},
	}
}

// drop removes the annotations. It also removes the annotations map if it is then empty, so that
// the object equals one that never had annotations.
func (a autoscalerAnnotations) drop(obj tree.Tree) {
	metadata := obj.Object("metadata")
	annotations := metadata.Object("annotations")
	if annotations == nil {
		return
	}
	for _, name := range []string{a.metrics, a.behavior, a.conditions, a.currentMetrics, a.tolerance["scaleUp"], a.tolerance["scaleDown"]} {
		delete(annotations, name)
	}
	if len(annotations) == 0 {
		delete(metadata, "annotations")
	}
}

func setJSONAnnotation(obj tree.Tree, name string, v any) {
	if tree.IsEmpty(v) {
		return
	}
	if text, err := json.Marshal(v); err == nil {
		obj.EnsureObject("metadata", "annotations")[name] = string(text)
	}
}

func (a autoscalerAnnotations) toleranceToAnnotations(obj tree.Tree) {
	for direction, name := range a.tolerance {
		scaling := obj.Object("spec", "behavior", direction)
		if q := scaling.String("tolerance"); q != "" {
			obj.EnsureObject("metadata", "annotations")[name] = q
			delete(scaling, "tolerance")
		}
	}
}

// toleranceFromAnnotations ignores a tolerance if the client has removed the behavior for its
// direction.
func (a autoscalerAnnotations) toleranceFromAnnotations(obj tree.Tree) {
	for direction, name := range a.tolerance {
		scaling := obj.Object("spec", "behavior", direction)
		if q, err := quantity.Parse(obj.Annotations().String(name)); err == nil && scaling != nil {
			scaling["tolerance"] = q
		}
	}
}

// autoscalerV2beta2Strategy converts between v2beta2 and the stored version. v2beta2 has no fields
// for tolerances, which become annotations. It also lacks the observed generations of conditions,
// which a status write through v2beta2 drops.
type autoscalerV2beta2Strategy struct {
	schema.DefaultStrategy
	schema.Lossless
	names autoscalerAnnotations
}

func (s autoscalerV2beta2Strategy) ToStored(obj tree.Tree) tree.Tree {
	s.names.toleranceFromAnnotations(obj)
	s.names.drop(obj)
	return obj
}

func (s autoscalerV2beta2Strategy) FromStored(obj tree.Tree) tree.Tree {
	s.names.toleranceToAnnotations(obj)
	for _, condition := range obj.Object("status").Objects("conditions") {
		delete(condition, "observedGeneration")
	}
	return obj
}
