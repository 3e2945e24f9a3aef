package scheduling

import (
	"fmt"

	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// ValidatePlacement checks the fields of a Pod spec that say where the Pod may run.
//
// It is shared by Pods and everything that has a template of them: a fault is found when a workload is written and
// not when its first Pod is made.
func ValidatePlacement(spec tree.Tree, path string, faults *schema.Faults) {
	rules.ValidateLabels(spec.Object("nodeSelector"), path+".nodeSelector", faults)
	for i, t := range spec.Objects("tolerations") {
		ValidateToleration(t, tree.IndexPath(path+".tolerations", i), faults)
	}
	validateTopologySpread(spec, path+".topologySpreadConstraints", faults)
	affinity := spec.Object("affinity")
	validateNodeAffinity(affinity.Object("nodeAffinity"), path+".affinity.nodeAffinity", faults)
	for _, name := range []string{"podAffinity", "podAntiAffinity"} {
		validatePodAffinity(affinity.Object(name), path+".affinity."+name, faults)
	}
}

// ValidateToleration checks a toleration of a Pod.
//
// An empty key means all keys, and only Exists can mean that. A time limit is for evictions, and only NoExecute
// evicts.
func ValidateToleration(t tree.Tree, path string, faults *schema.Faults) {
	key, operator := t.String("key"), t.String("operator")
	if key == "" && operator != "Exists" {
		faults.Invalid(path+".operator", operator, "operator must be Exists when `key` is empty, which means \"match all values and all keys\"")
	}
	if t.Has("tolerationSeconds") && t.String("effect") != "NoExecute" {
		faults.Invalid(path+".effect", t.String("effect"), "effect must be 'NoExecute' when `tolerationSeconds` is set")
	}
	switch operator {
	case "", "Equal":
		for _, msg := range rules.LabelValue(t.String("value")) {
			faults.Invalid(path+".operator", t.String("value"), msg)
		}
	case "Exists":
		if t.String("value") != "" {
			faults.Invalid(path+".operator", t.String("value"), "value must be empty when `operator` is 'Exists'")
		}
	}
}

// Two constraints with the same key and the same action are refused, as nobody could tell which skew holds.
// minDomains has an effect only where a Pod may stay unscheduled.
func validateTopologySpread(spec tree.Tree, path string, faults *schema.Faults) {
	seen := map[string]bool{}
	for i, c := range spec.Objects("topologySpreadConstraints") {
		at := tree.IndexPath(path, i)
		if n, _ := c.Int("maxSkew"); n <= 0 {
			faults.Invalid(at+".maxSkew", n, "must be greater than zero")
		}
		if c.String("whenUnsatisfiable") == "" {
			faults.NotSupported(at+".whenUnsatisfiable", "", []string{"DoNotSchedule", "ScheduleAnyway"})
		}
		if n, ok := c.Int("minDomains"); ok {
			if n <= 0 {
				faults.Invalid(at+".minDomains", n, "must be greater than zero")
			}
			if action := c.String("whenUnsatisfiable"); action == "ScheduleAnyway" {
				faults.Invalid(at+".minDomains", n, "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not "+action)
			}
		}
		field.LabelSelector(c.Object("labelSelector"), at+".labelSelector", faults)
		pair := fmt.Sprintf("{%s, %s}", c.String("topologyKey"), c.String("whenUnsatisfiable"))
		if seen[pair] {
			faults.Duplicate(at+".{topologyKey, whenUnsatisfiable}", pair)
		}
		seen[pair] = true
	}
}

// The two lists of terms of an affinity.
const (
	requiredTerms  = "requiredDuringSchedulingIgnoredDuringExecution"
	preferredTerms = "preferredDuringSchedulingIgnoredDuringExecution"
)

// Required terms filter nodes, and preferred ones weigh them; both have the form of a node selector's term.
func validateNodeAffinity(a tree.Tree, path string, faults *schema.Faults) {
	if required := a.Object(requiredTerms); required != nil {
		ValidateNodeSelector(required, path+"."+requiredTerms, faults)
	}
	at := path + "." + preferredTerms
	for i, p := range a.Objects(preferredTerms) {
		validateWeight(p, tree.IndexPath(at, i), faults)
		validateNodeTerm(p.Object("preference"), tree.IndexPath(at, i)+".preference", faults)
	}
}

// Weights are summed up by the scheduler, and the range is part of the API.
func validateWeight(p tree.Tree, path string, faults *schema.Faults) {
	if n, _ := p.Int("weight"); n < 1 || n > 100 {
		faults.Invalid(path+".weight", n, "must be in the range 1-100")
	}
}

// validatePodAffinity checks affinity and anti-affinity, which have the same form.
func validatePodAffinity(a tree.Tree, path string, faults *schema.Faults) {
	for i, term := range a.Objects(requiredTerms) {
		validatePodTerm(term, tree.IndexPath(path+"."+requiredTerms, i), faults)
	}
	for i, p := range a.Objects(preferredTerms) {
		at := tree.IndexPath(path+"."+preferredTerms, i)
		validateWeight(p, at, faults)
		validatePodTerm(p.Object("podAffinityTerm"), at+".podAffinityTerm", faults)
	}
}

// A term without a topology key would mean the same place without saying what a place is.
func validatePodTerm(term tree.Tree, path string, faults *schema.Faults) {
	field.LabelSelector(term.Object("labelSelector"), path+".labelSelector", faults)
	field.LabelSelector(term.Object("namespaceSelector"), path+".namespaceSelector", faults)
	key := term.String("topologyKey")
	if key == "" {
		faults.Required(path+".topologyKey", "can not be empty")
	}
	for _, msg := range rules.QualifiedName(key) {
		faults.Invalid(path+".topologyKey", key, msg)
	}
}
