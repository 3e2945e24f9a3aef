package resource

import (
	"errors"

	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/expressions"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A class holds selectors and parameters, which are added to those of each claim that names it; so both are checked
// by the same functions.
type deviceClassStrategy struct {
	schema.DefaultStrategy
	selectors *expressions.DeviceSelectors
}

func (s deviceClassStrategy) ValidateServed(obj, old tree.Tree, faults *schema.Faults) {
	compileSelectors(s.selectors, obj.Object("spec"), old.Object("spec"), "spec", faults)
}

// The status is kept on create and update, as only the scheduler and drivers write it, through the sub-resource.
type resourceClaimStrategy struct {
	schema.DefaultStrategy
	family.KeepStatus
	selectors *expressions.DeviceSelectors
	message   *schema.Message
}

func (resourceClaimStrategy) Default(obj tree.Tree) { defaultDevices(obj.Object("spec")) }

func (s resourceClaimStrategy) ValidateServed(obj, old tree.Tree, faults *schema.Faults) {
	compileClaimSelectors(s.selectors, obj.Object("spec", "devices"), old.Object("spec", "devices"), "spec.devices", faults)
}

// A template is checked like the claims that are made of it. Its faults would otherwise show when a Pod starts, to
// somebody else.
type resourceClaimTemplateStrategy struct {
	schema.DefaultStrategy
	selectors *expressions.DeviceSelectors
}

func (resourceClaimTemplateStrategy) Default(obj tree.Tree) {
	defaultDevices(obj.Object("spec", "spec"))
}

func (s resourceClaimTemplateStrategy) ValidateServed(obj, old tree.Tree, faults *schema.Faults) {
	compileClaimSelectors(s.selectors, obj.Object("spec", "spec", "devices"), old.Object("spec", "spec", "devices"), "spec.spec.devices", faults)
}

// compileClaimSelectors compiles the selectors of all requests of a claim that has changed.
func compileClaimSelectors(selectors *expressions.DeviceSelectors, devices, old tree.Tree, path string, faults *schema.Faults) {
	if tree.StrictEqual(devices["requests"], old["requests"]) {
		return
	}
	for i, request := range devices.Objects("requests") {
		at := tree.IndexPath(path+".requests", i)
		compileSelectors(selectors, request.Object("exactly"), nil, at+".exactly", faults)
		for j, choice := range request.Objects("firstAvailable") {
			compileSelectors(selectors, choice, nil, tree.IndexPath(at+".firstAvailable", j), faults)
		}
	}
}

// compileSelectors reports the selectors that do not compile. Those that have not changed were compiled by a server that
// may have known other functions. Empty and overlong ones are reported by the declarations.
func compileSelectors(selectors *expressions.DeviceSelectors, t, old tree.Tree, path string, faults *schema.Faults) {
	if tree.StrictEqual(t["selectors"], old["selectors"]) {
		return
	}
	for i, s := range t.Objects("selectors") {
		text := s.Object("cel").String("expression")
		if text == "" || len(text) > maxSelectorLength {
			continue
		}
		at := tree.IndexPath(path+".selectors", i) + ".cel.expression"
		switch err := selectors.Check(text); {
		case errors.Is(err, expressions.ErrTooComplex):
			faults.Forbidden(at, expressions.ErrTooComplex.Error())
		case err != nil:
			faults.Invalid(at, text, err.Error())
		}
	}
}

// maxSelectorLength is what the declaration of expressions says.
const maxSelectorLength = 10240

// defaultDevices sets requests to exactly one device.
//
// Both shapes of a request get the default, the choices of firstAvailable each for itself.
func defaultDevices(spec tree.Tree) {
	for _, request := range spec.Object("devices").Objects("requests") {
		if exactly := request.Object("exactly"); exactly != nil {
			defaultDeviceCount(exactly)
		}
		for _, choice := range request.Objects("firstAvailable") {
			if choice != nil {
				defaultDeviceCount(choice)
			}
		}
	}
}

// The count is only filled in for ExactCount: with All it would be refused.
func defaultDeviceCount(request tree.Tree) {
	field.SetIfEmpty(request, "allocationMode", "ExactCount")
	if n, _ := request.Int("count"); n == 0 && request.String("allocationMode") == "ExactCount" {
		request["count"] = int64(1)
	}
}
