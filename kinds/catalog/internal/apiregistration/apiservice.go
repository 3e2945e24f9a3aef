package apiregistration

import (
	"fmt"

	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/catalog/internal/webhook"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A certificate that was stored before is accepted unchanged, so that an update of something else does not fail for
// it.
type apiServiceStrategy struct{ schema.DefaultStrategy }

func (apiServiceStrategy) AllowsUnqualifiedFinalizers() bool { return true }

func (apiServiceStrategy) ValidateServed(obj, old tree.Tree, faults *schema.Faults) {
	spec := obj.Object("spec")
	if known := []string{old.Object("spec").String("caBundle")}; spec.Has("service") {
		webhook.ValidateCABundle(spec.String("caBundle"), known, "spec.caBundle", faults)
	}
}

// Prepare sets the status of a new APIService: Available if this server itself serves the group,
// else empty. A remote one becomes available only when somebody has looked whether it answers.
func (apiServiceStrategy) Prepare(obj, old tree.Tree) {
	if old != nil {
		obj.CopyField(old, "status")
		return
	}
	obj["status"] = tree.Tree{}
	if !obj.Object("spec").Has("service") {
		obj["status"] = tree.Tree{"conditions": []any{tree.Tree{
			"type": "Available", "status": "True", "reason": "Local", "message": "Local APIServices are always available",
			"lastTransitionTime": obj.Object("metadata")["creationTimestamp"],
		}}}
	}
}

// The name says which version it is for, so that two objects cannot claim the same one. A local APIService has no
// connection, and so neither certificates nor a reason to skip their check.
func (apiServiceStrategy) Validate(obj, _ tree.Tree, faults *schema.Faults) {
	spec := obj.Object("spec")
	group, version := spec.String("group"), spec.String("version")
	if name := obj.Object("metadata").String("name"); name != "" && name != version+"."+group {
		faults.Invalid("metadata.name", name, fmt.Sprintf("must be `spec.version+\".\"+spec.group`: %q", version+"."+group))
	}
	if group == "" && version != "v1" {
		faults.Required("spec.group", "only v1 may have an empty group and it better be legacy kube")
	}
	for _, msg := range rules.Label1035(version) {
		faults.Invalid("spec.version", version, msg)
	}
	validatePriority(spec, "groupPriorityMinimum", 20000, faults)
	validatePriority(spec, "versionPriority", 1000, faults)
	bundle, skip := spec.String("caBundle"), spec.Bool("insecureSkipTLSVerify")
	service, remote := spec["service"].(tree.Tree)
	if !remote {
		if bundle != "" {
			faults.Invalid("spec.caBundle", fmt.Sprintf("%d bytes", field.DecodedSize(bundle)), "local APIServices may not have a caBundle")
		}
		if skip {
			faults.Invalid("spec.insecureSkipTLSVerify", skip, "local APIServices may not have insecureSkipTLSVerify")
		}
		return
	}
	webhook.ValidateReferencePort(service, "spec.service", faults)
	if skip && bundle != "" {
		faults.Invalid("spec.insecureSkipTLSVerify", skip, "may not be true if caBundle is present")
	}
}

// The priorities order groups and versions in the discovery, and their bounds are part of the API. The message says
// "less than" and means "at most", which clients know.
func validatePriority(spec tree.Tree, name string, most int64, faults *schema.Faults) {
	if n, _ := spec.Int(name); n <= 0 || n > most {
		faults.Invalid("spec."+name, n, fmt.Sprintf("must be positive and less than %d", most))
	}
}

// validateStatus checks what the conditions say, by which the server takes an APIService for available.
func validateStatus(status, _ tree.Tree, faults *schema.Faults) {
	for i, c := range status.Objects("conditions") {
		field.Enum(c, "status", tree.IndexPath("status.conditions", i), faults, "True", "False", "Unknown")
	}
}
