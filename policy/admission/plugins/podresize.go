package plugins

import (
	"fmt"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/amount"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/admission"
)

// NodeDeclaredFeatureValidator returns the plugin that rejects a resize if the Pod's node does not
// declare the required feature.
func NodeDeclaredFeatureValidator(objects policy.Objects) admission.Registration {
	return admission.Register("NodeDeclaredFeatureValidator", declaredFeatures{objects})
}

type declaredFeatures struct{ objects policy.Objects }

func (p declaredFeatures) Handles(a *request.Attributes) bool {
	return nodeOf(a) != "" && len(featuresOf(a)) > 0
}

func (p declaredFeatures) Validate(a *request.Attributes) error {
	node, err := boundNode(p.objects, a)
	declared := node.Object("status").Strings("declaredFeatures")
	missing := slices.DeleteFunc(featuresOf(a), func(f string) bool { return slices.Contains(declared, f) })
	if err != nil || len(missing) == 0 {
		return err
	}
	return a.Forbidden(fmt.Sprintf("pod update requires features %s which are not available on node %q", strings.Join(missing, ", "), nodeOf(a)))
}

func featuresOf(a *request.Attributes) (names []string) {
	was, now := a.Old.Object("spec"), a.New.Object("spec")
	if !tree.SemanticEqual(was["resources"], now["resources"]) {
		names = append(names, "InPlacePodLevelResourcesVerticalScaling")
	}
	before := was.Objects("initContainers")
	for i, c := range now.Objects("initContainers") {
		if c.String("restartPolicy") != "Always" && !tree.SemanticEqual(before[i]["resources"], c["resources"]) {
			return append(names, "InPlacePodVerticalScalingInitContainers")
		}
	}
	return names
}

func boundNode(objects policy.Objects, a *request.Attributes) (tree.Tree, error) {
	if node := objects.Get(meta.GroupResource{Resource: "nodes"}, "", nodeOf(a)); node != nil {
		return node.Tree, nil
	}
	return nil, a.Forbidden(fmt.Sprintf("node %q not found", nodeOf(a)))
}

// PodResizeValidator returns the plugin that rejects resizes that exceed the allocatable resources
// of the Pod's node, and resizes on nodes that do not run Linux.
func PodResizeValidator(naming *meta.Naming, objects policy.Objects) admission.Registration {
	return admission.Register("PodResizeValidator", podResize{objects, naming.Translate("platform.io/os")})
}

type podResize struct {
	objects policy.Objects
	osLabel string
}

func (podResize) Handles(a *request.Attributes) bool {
	return nodeOf(a) != "" && !tree.SemanticEqual(a.Old["spec"], a.New["spec"])
}

func (p podResize) Validate(a *request.Attributes) error {
	node, err := boundNode(p.objects, a)
	if err != nil {
		return err
	}
	reject := func(cause meta.CauseType, why string) error {
		s := meta.NewForbidden(a.Kind.GroupResource(), a.Key.Name, why)
		s.Details.Causes = []meta.Cause{{Type: cause}}
		return s
	}
	if os, ok := node.Object("metadata", "labels")[p.osLabel]; ok && os != "linux" {
		return reject("UnsupportedPlatform", fmt.Sprintf("pod resize is only supported on linux nodes, node %q is %q", nodeOf(a), os))
	}
	spec := a.New.Object("spec")
	requests := podAmounts(spec, "requests")
	requests.Add(amount.ListOf(spec.Object("overhead")))
	var exceeded []string
	for _, r := range []struct {
		name string
		unit float64
	}{{"cpu", 1000}, {"memory", 1}} {
		wanted, allocatable := requests.Get(r.name), amount.Read(node.Object("status", "allocatable").String(r.name))
		if wanted.Cmp(allocatable) > 0 {
			exceeded = append(exceeded, fmt.Sprintf("%s, requested: %.0f, allocatable: %.0f", r.name, r.unit*wanted.Float(), r.unit*allocatable.Float()))
		}
	}
	if exceeded != nil {
		return reject("NodeCapacity", "node didn't have enough allocatable resources: "+strings.Join(exceeded, "; "))
	}
	return nil
}
