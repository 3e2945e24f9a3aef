package resource

import (
	"errors"

	"github.com/troupe-api/troupe/kinds/expressions"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

type deviceClassStrategy struct {
	schema.DefaultStrategy
	selectors *expressions.DeviceSelectors
}

func (s deviceClassStrategy) ValidateServed(obj, old tree.Tree, faults *schema.Faults) {
	compileSelectors(s.selectors, obj.Object("spec"), old.Object("spec"), "spec", faults)
}

// resourceClaimStrategy keeps the status when a client writes the main resource, because only the
// scheduler and drivers may write it.
type resourceClaimStrategy struct {
	schema.KeptStatus
	selectors *expressions.DeviceSelectors
	claim     *schema.Declaration
}

func (resourceClaimStrategy) Default(obj tree.Tree) { defaultDevices(obj.Object("spec")) }

func (s resourceClaimStrategy) ValidateServed(obj, old tree.Tree, faults *schema.Faults) {
	compileClaimSelectors(s.selectors, obj.Object("spec", "devices"), old.Object("spec", "devices"), "spec.devices", faults)
}

// resourceClaimTemplateStrategy applies the ResourceClaim rules to a template. Otherwise errors
// would appear only when a Pod starts.
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

// compileSelectors reports selectors that do not compile. It skips unchanged selectors, which may
// use functions of another server version. Declarative rules report selectors that are empty or too
// long.
func compileSelectors(selectors *expressions.DeviceSelectors, t, old tree.Tree, path string, faults *schema.Faults) {
	if !tree.StrictEqual(t["selectors"], old["selectors"]) {
		for i, s := range t.Objects("selectors") {
			compile(selectors.Check, s.Object("cel"), tree.IndexPath(path+".selectors", i)+".cel", faults)
		}
	}
	for i, a := range t.Objects("derivedAttributes") {
		compile(selectors.CheckAttribute, a, tree.IndexPath(path+".derivedAttributes", i), faults)
	}
}

func compile(check func(string) error, t tree.Tree, path string, faults *schema.Faults) {
	at, text := path+".expression", t.String("expression")
	if text == "" || len(text) > maxSelectorLength {
		return
	}
	switch err := check(text); {
	case errors.Is(err, expressions.ErrTooComplex):
		faults.Forbidden(at, expressions.ErrTooComplex.Error())
	case err != nil:
		faults.Invalid(at, text, err.Error())
	}
}

// maxSelectorLength is the maximum length of an expression, in bytes, as declared.
const maxSelectorLength = 10240

// defaultDevices sets the default count, one device, in each request and each choice of
// firstAvailable.
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

// defaultDeviceCount sets the count only in the allocation mode ExactCount, because the mode All
// must not have one.
func defaultDeviceCount(request tree.Tree) {
	if n, _ := request.Int("count"); n == 0 && request.String("allocationMode") == "ExactCount" {
		request["count"] = int64(1)
	}
}
