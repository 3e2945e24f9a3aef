package catalog

import (
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

func eventRules() schema.Rules {
	return schema.Rules{Validate: validateEvent}
}

func validateEvent(obj schema.Tree, faults *schema.Faults) {
	ns := rules.Text(rules.Sub(obj, "metadata"), "namespace")
	about := rules.Text(rules.Sub(obj, "involvedObject"), "namespace")
	// An event about an object of the cluster lives in the namespace default.
	if about != ns && !(about == "" && ns == "default") {
		faults.Invalid("involvedObject.namespace", about, "does not match event.namespace")
	}
	if !rules.Has(obj, "eventTime") {
		return
	}
	reporter := rules.Text(obj, "reportingComponent")
	if reporter == "" {
		faults.Required("reportingComponent")
	} else {
		for _, msg := range rules.QualifiedName(reporter) {
			faults.Invalid("reportingComponent", reporter, msg)
		}
	}
	for _, name := range []string{"reportingInstance", "action", "reason"} {
		switch s := rules.Text(obj, name); {
		case s == "":
			faults.Required(name)
		case len(s) > 128:
			faults.Invalid(name, "", "can have at most 128 characters")
		}
	}
	if len(rules.Text(obj, "message")) > 1024 {
		faults.Invalid("message", "", "can have at most 1024 characters")
	}
}
