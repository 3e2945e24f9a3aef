package resource

import (
	"errors"
	"strings"

	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/expressions"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A class holds selectors and parameters, which are added to those of each claim that names it; so both are checked
// by the same functions.
type deviceClassStrategy struct {
	schema.DefaultStrategy
	selectors *expressions.DeviceSelectors
}

func (deviceClassStrategy) Validate(obj, _ tree.Tree, faults *schema.Faults) {
	spec := obj.Object("spec")
	validateDeviceSelectors(spec, "spec", faults)
	for i, c := range spec.Objects("config") {
		validateDeviceConfig(c, tree.IndexPath("spec.config", i), faults)
	}
}

func (s deviceClassStrategy) ValidateServed(obj, old tree.Tree, faults *schema.Faults) {
	compileSelectors(s.selectors, obj.Object("spec"), old.Object("spec"), "spec", faults)
}

// The status is kept on create and update, as only the scheduler and drivers write it, through the sub-resource.
type resourceClaimStrategy struct {
	schema.DefaultStrategy
	family.KeepStatus
	selectors *expressions.DeviceSelectors
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

func (resourceClaimTemplateStrategy) Validate(obj, _ tree.Tree, faults *schema.Faults) {
	m := obj.Object("spec", "metadata")
	rules.ValidateLabels(m.Object("labels"), "spec.metadata.labels", faults)
	rules.ValidateAnnotations(m.Object("annotations"), "spec.metadata.annotations", faults)
	validateDeviceClaim(obj.Object("spec", "spec", "devices"), "spec.spec.devices", faults)
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

// A reservation without an allocation would hold nothing: nobody could tell which devices a Pod has.
func (resourceClaimStrategy) Validate(obj, _ tree.Tree, faults *schema.Faults) {
	validateDeviceClaim(obj.Object("spec", "devices"), "spec.devices", faults)
	status := obj.Object("status")
	if len(status.List("reservedFor")) > 0 && !status.Has("allocation") {
		faults.Forbidden("status.reservedFor", "may not be specified when `allocated` is not set")
	}
}

// requestNames are the names of the requests of a claim, as "request" and "request/subrequest": constraints, parameters and
// results may name either.
func requestNames(devices tree.Tree) map[string]bool {
	names := map[string]bool{}
	for _, request := range devices.Objects("requests") {
		name := request.String("name")
		names[name] = true
		for _, choice := range request.Objects("firstAvailable") {
			names[name+"/"+choice.String("name")] = true
		}
	}
	return names
}

// validateDeviceClaim checks what a claim asks for.
func validateDeviceClaim(devices tree.Tree, path string, faults *schema.Faults) {
	names, seen := requestNames(devices), map[string]bool{}
	for i, request := range devices.Objects("requests") {
		at, name := tree.IndexPath(path+".requests", i), request.String("name")
		if seen[name] {
			faults.Duplicate(at, name)
		}
		seen[name] = true
		field.Format(request, "name", at, faults, rules.Label)
		validateDeviceRequest(request, at, faults)
	}
	for i, c := range devices.Objects("constraints") {
		at := tree.IndexPath(path+".constraints", i)
		validateRequestNames(c, at+".requests", names, faults)
		if c.String("matchAttribute") == "" && c.String("distinctAttribute") == "" {
			faults.Required(at+".matchAttribute", "must be set")
		}
		for _, field := range []string{"matchAttribute", "distinctAttribute"} {
			if attribute := c.String(field); attribute != "" {
				validateAttributeName(attribute, at+"."+field, faults)
				if !strings.Contains(attribute, "/") {
					faults.Invalid(at+"."+field, attribute, "a fully qualified name must be a domain and a name separated by a slash")
				}
			}
		}
	}
	for i, c := range devices.Objects("config") {
		at := tree.IndexPath(path+".config", i)
		validateRequestNames(c, at+".requests", names, faults)
		validateDeviceConfig(c, at, faults)
	}
}

// notARequest says what is wrong with a name that is that of no request.
const notARequest = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"

// validateRequestNames checks that each name is that of a request or of one of its subrequests.
//
// A wrong name would make a constraint that holds for nothing, and so the claim would get devices that it excludes.
func validateRequestNames(t tree.Tree, path string, names map[string]bool, faults *schema.Faults) {
	seen := map[string]bool{}
	for i, name := range t.Strings("requests") {
		at := tree.IndexPath(path, i)
		if !names[name] {
			faults.Invalid(at, name, notARequest)
		}
		if seen[name] {
			faults.Duplicate(at, name)
		}
		seen[name] = true
	}
}

// validateDeviceRequest requires either exactly or firstAvailable.
//
// Exactly one of both must be there: an old client that does not know firstAvailable would otherwise read a request
// without devices as a valid one.
func validateDeviceRequest(request tree.Tree, path string, faults *schema.Faults) {
	const one = "exactly one of `exactly` or `firstAvailable` is required"
	exactly, choices := request.Object("exactly"), request.Objects("firstAvailable")
	switch {
	case exactly == nil && len(choices) == 0:
		faults.Required(path, one)
	case exactly != nil && len(choices) > 0:
		faults.Invalid(path, nil, one+", but multiple fields are set")
	}
	if exactly != nil {
		validateDeviceCount(exactly, path+".exactly", faults)
	}
	names := map[string]bool{}
	for i, choice := range choices {
		at, name := tree.IndexPath(path+".firstAvailable", i), choice.String("name")
		if names[name] {
			faults.Duplicate(at, name)
		}
		names[name] = true
		validateDeviceCount(choice, at, faults)
	}
}

// validateDeviceCount checks what both shapes of a request share. A count beside All would contradict it.
func validateDeviceCount(request tree.Tree, path string, faults *schema.Faults) {
	validateDeviceSelectors(request, path, faults)
	count, _ := request.Int("count")
	switch mode := request.String("allocationMode"); {
	case mode == "All" && count != 0:
		faults.Invalid(path+".count", count, "must not be specified when allocationMode is 'All'")
	case mode == "ExactCount" && count <= 0:
		faults.Invalid(path+".count", count, "must be greater than zero")
	}
	for i, t := range request.Objects("tolerations") {
		validateDeviceToleration(t, tree.IndexPath(path+".tolerations", i), faults)
	}
}

// A selector without an expression is refused, as it would select by something that this server does not know.
func validateDeviceSelectors(t tree.Tree, path string, faults *schema.Faults) {
	for i, s := range t.Objects("selectors") {
		if s.Object("cel") == nil {
			faults.Required(tree.IndexPath(path+".selectors", i) + ".cel")
		}
	}
}

// The rules are those of tolerations of Pods: a value means nothing beside Exists, and only Exists may leave out the
// key.
func validateDeviceToleration(t tree.Tree, path string, faults *schema.Faults) {
	field.Format(t, "value", path, faults, rules.LabelValue)
	exists := t.String("operator") == "Exists"
	switch {
	case exists && t.String("value") != "":
		faults.Invalid(path+".value", t.String("value"), "must be empty for operator `Exists`")
	case !exists && t.String("key") == "":
		faults.Required(path+".key", "must not be empty unless operator is `Exists`")
	}
}

// validateDeviceConfig requires parameters for a driver that are an object.
//
// The parameters go to the driver as they are, and it is for the driver to know their fields.
func validateDeviceConfig(c tree.Tree, path string, faults *schema.Faults) {
	opaque := c.Object("opaque")
	if opaque == nil {
		faults.Required(path + ".opaque")
		return
	}
	if v := opaque["parameters"]; v != nil && opaque.Object("parameters") == nil {
		faults.Invalid(path+".opaque.parameters", v, "must be a valid JSON object")
	}
}
