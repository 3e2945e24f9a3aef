package plugins

import (
	"fmt"
	"strings"

	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/admission"
)

// AlwaysPullImages has the images of Pods pulled at each start, so that only who may pull an image runs it,
// whether it is on the node already or not. Without it a Pod on the right node could use an image from a
// private registry that another's credentials have fetched.
func AlwaysPullImages() admission.Registration {
	return admission.Registration{
		Name: "AlwaysPullImages", Resources: []string{"/pods"},
		Plugin: request.Plugin{Operations: request.OnCreate | request.OnUpdate, Mutator: imagePuller{}, Validator: imagePuller{}},
	}
}

// imagePuller has no state: what it does depends on the Pod alone.
type imagePuller struct{}

// pullAlways is the policy with which a node asks the registry at each start of a container, credentials included.
const pullAlways = "Always"

// Admit implements request.Mutator.
func (imagePuller) Admit(a *request.Attributes) error {
	eachPullPolicy(a.EditAll("spec"), func(of tree.Tree, field, _ string) { of[field] = pullAlways })
	return nil
}

// Validate implements request.Validator. A plugin or webhook that ran later may have changed the policy
// again; then the Pod is refused.
func (imagePuller) Validate(a *request.Attributes) error {
	var faults []string
	eachPullPolicy(a.New.Object("spec"), func(of tree.Tree, field, path string) {
		if policy := of.String(field); policy != pullAlways {
			faults = append(faults, fmt.Sprintf("%s.%s: Unsupported value: %q: supported values: %q", path, field, policy, pullAlways))
		}
	})
	if len(faults) > 0 {
		return a.Forbidden(strings.Join(faults, ", "))
	}
	return nil
}

// eachPullPolicy calls do with all that pulls an image, the field that says when, and its path. Volumes of
// type image pull as well, and call the field otherwise.
func eachPullPolicy(spec tree.Tree, do func(of tree.Tree, field, path string)) {
	eachContainer(spec, allContainers, func(c tree.Tree, list string, i int) bool {
		do(c, "imagePullPolicy", tree.IndexPath("spec."+list, i))
		return true
	})
	for i, v := range spec.Objects("volumes") {
		if image := v.Object("image"); image != nil {
			do(image, "pullPolicy", tree.IndexPath("spec.volumes", i)+".image")
		}
	}
}

// Handles implements request.Mutator and request.Validator. It reports whether a Pod is new, or gets an image that
// it did not have. Without other updates, Pods from before the plugin was switched on could not be changed.
func (imagePuller) Handles(a *request.Attributes) bool {
	if a.IsCreate() {
		return true
	}
	had, brings := map[string]bool{}, false
	eachContainer(a.Old.Object("spec"), allContainers, func(c tree.Tree, _ string, _ int) bool {
		had[c.String("image")] = true
		return true
	})
	eachContainer(a.New.Object("spec"), allContainers, func(c tree.Tree, _ string, _ int) bool {
		brings = !had[c.String("image")]
		return !brings
	})
	return brings
}
