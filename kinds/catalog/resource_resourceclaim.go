package catalog

import (
	"strings"

	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

func deviceClassRules() schema.Rules {
	return schema.Rules{Validate: func(obj schema.Tree, faults *schema.Faults) {
		spec := rules.Nested(obj, "spec")
		validateDeviceSelectors(spec, "spec", faults)
		for i, c := range rules.Trees(spec, "config") {
			validateDeviceConfig(c, rules.IndexPath("spec.config", i), faults)
		}
	}}
}

func resourceClaimRules() schema.Rules {
	return schema.Rules{
		Default:  func(obj schema.Tree) { defaultDevices(rules.Nested(obj, "spec")) },
		Prepare:  keepStatus,
		Validate: validateDeviceClaimObject,
	}
}

func resourceClaimTemplateRules() schema.Rules {
	return schema.Rules{
		Default: func(obj schema.Tree) { defaultDevices(rules.Nested(obj, "spec", "spec")) },
		Validate: func(obj schema.Tree, faults *schema.Faults) {
			m := rules.Nested(obj, "spec", "metadata")
			rules.ValidateLabels(rules.Nested(m, "labels"), "spec.metadata.labels", faults)
			rules.ValidateAnnotations(rules.Nested(m, "annotations"), "spec.metadata.annotations", faults)
			validateDeviceClaim(rules.Nested(obj, "spec", "spec", "devices"), "spec.spec.devices", faults)
		},
	}
}

// defaultDevices: a request is for one device unless it says otherwise.
func defaultDevices(spec schema.Tree) {
	for _, request := range rules.Trees(rules.Nested(spec, "devices"), "requests") {
		if exactly := rules.Nested(request, "exactly"); exactly != nil {
			defaultDeviceCount(exactly)
		}
		for _, choice := range rules.Trees(request, "firstAvailable") {
			if choice != nil {
				defaultDeviceCount(choice)
			}
		}
	}
}

func defaultDeviceCount(request schema.Tree) {
	setIfEmpty(request, "allocationMode", "ExactCount")
	if n, _ := rules.Int(request, "count"); n == 0 && rules.String(request, "allocationMode") == "ExactCount" {
		request["count"] = int64(1)
	}
}

func validateDeviceClaimObject(obj schema.Tree, faults *schema.Faults) {
	validateDeviceClaim(rules.Nested(obj, "spec", "devices"), "spec.devices", faults)
	status := rules.Nested(obj, "status")
	if len(rules.Items(status, "reservedFor")) > 0 && !rules.Has(status, "allocation") {
		faults.Forbidden("status.reservedFor", "may not be specified when `allocated` is not set")
	}
}

// validateDeviceClaim checks what a claim asks for.
func validateDeviceClaim(devices schema.Tree, path string, faults *schema.Faults) {
	names := map[string]bool{}
	for i, request := range rules.Trees(devices, "requests") {
		at, name := rules.IndexPath(path+".requests", i), rules.String(request, "name")
		if names[name] {
			faults.Duplicate(at+".name", name)
		}
		names[name] = true
		validateFormat(request, "name", at, faults, rules.Label)
		validateDeviceRequest(request, at, faults)
		for _, choice := range rules.Trees(request, "firstAvailable") {
			names[name+"/"+rules.String(choice, "name")] = true
		}
	}
	for i, c := range rules.Trees(devices, "constraints") {
		at := rules.IndexPath(path+".constraints", i)
		validateRequestNames(c, at+".requests", names, faults)
		if rules.String(c, "matchAttribute") == "" && rules.String(c, "distinctAttribute") == "" {
			faults.Required(at+".matchAttribute", "must be set")
		}
		for _, field := range []string{"matchAttribute", "distinctAttribute"} {
			if attribute := rules.String(c, field); attribute != "" && !strings.Contains(attribute, "/") {
				faults.Invalid(at+"."+field, attribute, "must include domain prefix")
			}
		}
	}
	for i, c := range rules.Trees(devices, "config") {
		at := rules.IndexPath(path+".config", i)
		validateRequestNames(c, at+".requests", names, faults)
		validateDeviceConfig(c, at, faults)
	}
}

// validateRequestNames wants each name to be that of a request, or of one of its choices.
func validateRequestNames(t schema.Tree, path string, names map[string]bool, faults *schema.Faults) {
	seen := map[string]bool{}
	for i, name := range rules.Strings(t, "requests") {
		at := rules.IndexPath(path, i)
		if !names[name] {
			faults.Invalid(at, name, "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'")
		}
		if seen[name] {
			faults.Duplicate(at, name)
		}
		seen[name] = true
	}
}

// validateDeviceRequest wants either devices exactly so, or a list of choices.
func validateDeviceRequest(request schema.Tree, path string, faults *schema.Faults) {
	const one = "exactly one of `exactly` or `firstAvailable` is required"
	exactly, choices := rules.Nested(request, "exactly"), rules.Trees(request, "firstAvailable")
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
		at, name := rules.IndexPath(path+".firstAvailable", i), rules.String(choice, "name")
		if names[name] {
			faults.Duplicate(at+".name", name)
		}
		names[name] = true
		validateDeviceCount(choice, at, faults)
	}
}

func validateDeviceCount(request schema.Tree, path string, faults *schema.Faults) {
	validateDeviceSelectors(request, path, faults)
	count, _ := rules.Int(request, "count")
	switch mode := rules.String(request, "allocationMode"); {
	case mode == "All" && count != 0:
		faults.Invalid(path+".count", count, "must not be specified when allocationMode is 'All'")
	case mode == "ExactCount" && count <= 0:
		faults.Invalid(path+".count", count, "must be greater than zero")
	}
	for i, t := range rules.Trees(request, "tolerations") {
		validateDeviceToleration(t, rules.IndexPath(path+".tolerations", i), faults)
	}
}

func validateDeviceSelectors(t schema.Tree, path string, faults *schema.Faults) {
	for i, s := range rules.Trees(t, "selectors") {
		if rules.Nested(s, "cel") == nil {
			faults.Required(rules.IndexPath(path+".selectors", i) + ".cel")
		}
	}
}

func validateDeviceToleration(t schema.Tree, path string, faults *schema.Faults) {
	validateFormat(t, "key", path, faults, rules.QualifiedName)
	validateFormat(t, "value", path, faults, rules.LabelValue)
	exists := rules.String(t, "operator") == "Exists"
	switch {
	case exists && rules.String(t, "value") != "":
		faults.Invalid(path+".value", rules.String(t, "value"), "must be empty for operator `Exists`")
	case !exists && rules.String(t, "key") == "":
		faults.Required(path+".key", "must not be empty unless operator is `Exists`")
	}
}

// validateDeviceConfig wants settings for a driver, as an object.
func validateDeviceConfig(c schema.Tree, path string, faults *schema.Faults) {
	opaque := rules.Nested(c, "opaque")
	if opaque == nil {
		faults.Required(path + ".opaque")
		return
	}
	if v := opaque["parameters"]; v != nil && rules.Nested(opaque, "parameters") == nil {
		faults.Invalid(path+".opaque.parameters", v, "must be a valid JSON object")
	}
}
