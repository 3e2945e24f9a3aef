package plugins

import (
	"fmt"
	"strings"

	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/admission"
)

// AlwaysPullImages returns the plugin that sets imagePullPolicy to Always. Otherwise a Pod could
// run a private image that was pulled to its node with another user's credentials.
func AlwaysPullImages() admission.Registration {
	return admission.Register("AlwaysPullImages", imagePuller{})
}

type imagePuller struct{}

const pullAlways = "Always"

func (imagePuller) Admit(a *request.Attributes) error {
	eachPullPolicy(a.EditAll("spec"), func(of tree.Tree, field, _ string) { of[field] = pullAlways })
	return nil
}

// Validate rejects Pods whose pull policy was changed back by a later plugin or webhook.
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

// eachPullPolicy calls do for each pull policy of a Pod's containers and image volumes. of is the
// container or image volume, field its pull policy field, and path its field path.
func eachPullPolicy(spec tree.Tree, do func(of tree.Tree, field, path string)) {
	for _, list := range allContainers {
		for i, v := range spec.List(list) {
			if c, ok := v.(tree.Tree); ok {
				do(c, "imagePullPolicy", tree.IndexPath("spec."+list, i))
			}
		}
	}
	for i, v := range spec.Objects("volumes") {
		if image := v.Object("image"); image != nil {
			do(image, "pullPolicy", tree.IndexPath("spec.volumes", i)+".image")
		}
	}
}

// Handles reports whether the Pod is new or gets a new image. Skipping other updates keeps older
// Pods editable.
func (imagePuller) Handles(a *request.Attributes) bool {
	if a.IsCreate() {
		return true
	}
	had := map[string]bool{}
	for _, c := range containers(a.Old.Object("spec"), allContainers...) {
		had[c.String("image")] = true
	}
	for _, c := range containers(a.New.Object("spec"), allContainers...) {
		if !had[c.String("image")] {
			return true
		}
	}
	return false
}
