package scheduling

import (
	"fmt"
	"slices"

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
	case "Gt", "Lt": // they exist, and cannot be used without a gate that is off
		faults.NotSupported(path+".operator", operator, []string{"Equal", "Exists", "Lt", "Gt"})
	default:
		faults.NotSupported(path+".operator", operator, []string{"Equal", "Exists"})
	}
}

// Two constraints with the same key and the same action are refused, as nobody could tell which skew holds.
// minDomains has an effect only where a Pod may stay unscheduled.
func validateTopologySpread(spec tree.Tree, path string, faults *schema.Faults) {
	seen := map[string]int{}
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
			if action := c.String("whenUnsatisfiable"); action != "DoNotSchedule" {
				faults.Invalid(at+".minDomains", n, "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not "+action)
			}
		}
		field.LabelSelector(c.Object("labelSelector"), at+".labelSelector", faults)
		validateLabelKeys(c, at, faults)
		pair := fmt.Sprintf("{%s, %s}", c.String("topologyKey"), c.String("whenUnsatisfiable"))
		if first, repeated := seen[pair]; repeated {
			faults.Duplicate(tree.IndexPath(path, first)+".{topologyKey, whenUnsatisfiable}", pair)
			continue
		}
		seen[pair] = i
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
	for _, namespace := range term.Strings("namespaces") {
		for _, msg := range rules.Label(namespace) {
			faults.Invalid(path+".namespace", namespace, msg) // without the index, as clients know it
		}
	}
	validateLabelKeys(term, path, faults)
	key := term.String("topologyKey")
	if key == "" {
		faults.Required(path+".topologyKey", "can not be empty")
	}
	for _, msg := range rules.QualifiedName(key) {
		faults.Invalid(path+".topologyKey", key, msg)
	}
}

// validateLabelKeys checks the labels in which others must equal a Pod, or differ from it: matchLabelKeys and
// mismatchLabelKeys. They narrow a selector, and so need one; one that the selector names as well would be asked for
// twice.
func validateLabelKeys(term tree.Tree, path string, faults *schema.Faults) {
	selector := term.Object("labelSelector")
	equal, differ := term.Strings("matchLabelKeys"), term.Strings("mismatchLabelKeys")
	for _, list := range []string{"matchLabelKeys", "mismatchLabelKeys"} {
		keys := term.Strings(list)
		if len(keys) > 0 && selector == nil {
			faults.Forbidden(path+"."+list, "must not be specified when labelSelector is not set")
			continue
		}
		for i, key := range keys {
			for _, msg := range rules.QualifiedName(key) {
				faults.Invalid(tree.IndexPath(path+"."+list, i), key, msg)
			}
		}
	}
	if len(equal) == 0 {
		return
	}
	selected := map[string]bool{}
	for key := range selector.Object("matchLabels") {
		selected[key] = true
	}
	for _, e := range selector.Objects("matchExpressions") {
		key := e.String("key")
		if i := slices.Index(equal, key); i >= 0 && selected[key] {
			faults.Invalid(tree.IndexPath(path, i), key, "exists in both matchLabelKeys and labelSelector")
		}
		selected[key] = true
	}
	for i, key := range equal {
		if slices.Contains(differ, key) {
			faults.Invalid(tree.IndexPath(path+".matchLabelKeys", i), key, "exists in both matchLabelKeys and mismatchLabelKeys")
		}
	}
}

// MergeLabelKeys adds to the selectors of a new Pod's terms and constraints the values of its own labels that they name
// by matchLabelKeys and mismatchLabelKeys: schedulers look at the selectors alone.
func MergeLabelKeys(spec, labels tree.Tree) {
	for _, c := range spec.Objects("topologySpreadConstraints") {
		mergeKeys(c, labels)
	}
	for _, name := range []string{"podAffinity", "podAntiAffinity"} {
		affinity := spec.Object("affinity", name)
		for _, term := range affinity.Objects(requiredTerms) {
			mergeKeys(term, labels)
		}
		for _, p := range affinity.Objects(preferredTerms) {
			mergeKeys(p.Object("podAffinityTerm"), labels)
		}
	}
}

func mergeKeys(term, labels tree.Tree) {
	selector := term.Object("labelSelector")
	if selector == nil {
		return
	}
	for _, list := range []struct{ keys, operator string }{{"matchLabelKeys", "In"}, {"mismatchLabelKeys", "NotIn"}} {
		for _, key := range term.Strings(list.keys) {
			if value, ok := labels[key].(string); ok {
				selector["matchExpressions"] = append(slices.Clip(selector.List("matchExpressions")),
					tree.Tree{"key": key, "operator": list.operator, "values": []any{value}})
			}
		}
	}
}
