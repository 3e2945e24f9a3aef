package catalog

import (
	"fmt"
	"strconv"

	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

const notNegativeMsg = "must be greater than or equal to 0"

func betweenMsg(low, high int64) string {
	return fmt.Sprintf("must be between %d and %d, inclusive", low, high)
}

// validatePlacement checks what says where a Pod may run.
func validatePlacement(spec schema.Tree, path string, faults *schema.Faults) {
	rules.ValidateLabels(rules.Sub(spec, "nodeSelector"), path+".nodeSelector", faults)
	for i, t := range rules.Trees(spec, "tolerations") {
		validateToleration(t, rules.At(path+".tolerations", i), faults)
	}
	validateSpread(spec, path+".topologySpreadConstraints", faults)
	affinity := rules.Sub(spec, "affinity")
	validateNodeAffinity(rules.Sub(affinity, "nodeAffinity"), path+".affinity.nodeAffinity", faults)
	for _, name := range []string{"podAffinity", "podAntiAffinity"} {
		validatePodAffinity(rules.Sub(affinity, name), path+".affinity."+name, faults)
	}
}

func validateToleration(t schema.Tree, path string, faults *schema.Faults) {
	key, operator := rules.Text(t, "key"), rules.Text(t, "operator")
	formatted(t, "key", path, faults, rules.QualifiedName)
	if key == "" && operator != "Exists" {
		faults.Invalid(path+".operator", operator, "operator must be Exists when `key` is empty, which means \"match all values and all keys\"")
	}
	if rules.Has(t, "tolerationSeconds") && rules.Text(t, "effect") != "NoExecute" {
		faults.Invalid(path+".effect", rules.Text(t, "effect"), "effect must be 'NoExecute' when `tolerationSeconds` is set")
	}
	switch operator {
	case "", "Equal":
		for _, msg := range rules.LabelValue(rules.Text(t, "value")) {
			faults.Invalid(path+".operator", rules.Text(t, "value"), msg)
		}
	case "Exists":
		if rules.Text(t, "value") != "" {
			faults.Invalid(path+".operator", rules.Text(t, "value"), "value must be empty when `operator` is 'Exists'")
		}
	}
}

func validateSpread(spec schema.Tree, path string, faults *schema.Faults) {
	seen := map[string]bool{}
	for i, c := range rules.Trees(spec, "topologySpreadConstraints") {
		at := rules.At(path, i)
		if n, _ := rules.Int(c, "maxSkew"); n <= 0 {
			faults.Invalid(at+".maxSkew", n, "must be greater than zero")
		}
		if rules.Text(c, "topologyKey") == "" {
			faults.Required(at+".topologyKey", "can not be empty")
		}
		formatted(c, "topologyKey", at, faults, rules.QualifiedName)
		if rules.Text(c, "whenUnsatisfiable") == "" {
			faults.NotSupported(at+".whenUnsatisfiable", "", []string{"DoNotSchedule", "ScheduleAnyway"})
		}
		if n, ok := rules.Int(c, "minDomains"); ok {
			if n <= 0 {
				faults.Invalid(at+".minDomains", n, "must be greater than zero")
			}
			if action := rules.Text(c, "whenUnsatisfiable"); action == "ScheduleAnyway" {
				faults.Invalid(at+".minDomains", n, "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not "+action)
			}
		}
		validateLabelSelector(rules.Sub(c, "labelSelector"), at+".labelSelector", faults)
		pair := fmt.Sprintf("{%s, %s}", rules.Text(c, "topologyKey"), rules.Text(c, "whenUnsatisfiable"))
		if seen[pair] {
			faults.Duplicate(at+".{topologyKey, whenUnsatisfiable}", pair)
		}
		seen[pair] = true
	}
}

func validateNodeAffinity(a schema.Tree, path string, faults *schema.Faults) {
	if must := rules.Sub(a, "requiredDuringSchedulingIgnoredDuringExecution"); must != nil {
		at := path + ".requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
		terms := rules.Trees(must, "nodeSelectorTerms")
		if len(terms) == 0 {
			faults.Required(at, "must have at least one node selector term")
		}
		for i, term := range terms {
			validateNodeTerm(term, rules.At(at, i), faults)
		}
	}
	at := path + ".preferredDuringSchedulingIgnoredDuringExecution"
	for i, p := range rules.Trees(a, "preferredDuringSchedulingIgnoredDuringExecution") {
		validateWeight(p, rules.At(at, i), faults)
		validateNodeTerm(rules.Sub(p, "preference"), rules.At(at, i)+".preference", faults)
	}
}

func validateWeight(p schema.Tree, path string, faults *schema.Faults) {
	if n, _ := rules.Int(p, "weight"); n < 1 || n > 100 {
		faults.Invalid(path+".weight", n, "must be in the range 1-100")
	}
}

// validateNodeTerm checks one term of a node selector.
func validateNodeTerm(term schema.Tree, path string, faults *schema.Faults) {
	for i, e := range rules.Trees(term, "matchExpressions") {
		at := rules.At(path+".matchExpressions", i)
		validateNodeRequirement(e, at, faults)
		key := rules.Text(e, "key")
		for _, msg := range rules.QualifiedName(key) {
			faults.Invalid(at+".key", key, msg)
		}
	}
	for i, e := range rules.Trees(term, "matchFields") {
		at := rules.At(path+".matchFields", i)
		choice(e, "operator", at, faults, "In", "NotIn")
		if len(rules.Items(e, "values")) != 1 {
			faults.Required(at+".values", "must be only one value when `operator` is 'In' or 'NotIn' for node field selector")
		}
		if key := rules.Text(e, "key"); key != "metadata.name" {
			faults.Invalid(at+".key", key, "not a valid field selector key")
		}
	}
}

func validateNodeRequirement(e schema.Tree, path string, faults *schema.Faults) {
	switch operator := rules.Text(e, "operator"); {
	case validateMembership(e, path, faults):
	case operator == "Gt", operator == "Lt":
		if values := rules.Texts(e, "values"); len(values) != 1 {
			faults.Required(path+".values", "must be specified single value when `operator` is 'Lt' or 'Gt'")
		} else if _, err := strconv.ParseInt(values[0], 10, 64); err != nil {
			faults.Invalid(rules.At(path+".values", 0), values[0], "must be an integer when `operator` is 'Lt' or 'Gt'")
		}
	default:
		faults.Invalid(path+".operator", operator, "not a valid selector operator")
	}
}

// validateMembership checks an expression whose operator asks for values, or for none,
// and says whether it is one.
func validateMembership(e schema.Tree, path string, faults *schema.Faults) bool {
	values := rules.Texts(e, "values")
	switch rules.Text(e, "operator") {
	case "In", "NotIn":
		if len(values) == 0 {
			faults.Required(path+".values", "must be specified when `operator` is 'In' or 'NotIn'")
		}
	case "Exists", "DoesNotExist":
		if len(values) > 0 {
			faults.Forbidden(path+".values", "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")
		}
	default:
		return false
	}
	return true
}

func validatePodAffinity(a schema.Tree, path string, faults *schema.Faults) {
	const must, should = "requiredDuringSchedulingIgnoredDuringExecution", "preferredDuringSchedulingIgnoredDuringExecution"
	for i, term := range rules.Trees(a, must) {
		validatePodTerm(term, rules.At(path+"."+must, i), faults)
	}
	for i, p := range rules.Trees(a, should) {
		at := rules.At(path+"."+should, i)
		validateWeight(p, at, faults)
		validatePodTerm(rules.Sub(p, "podAffinityTerm"), at+".podAffinityTerm", faults)
	}
}

func validatePodTerm(term schema.Tree, path string, faults *schema.Faults) {
	validateLabelSelector(rules.Sub(term, "labelSelector"), path+".labelSelector", faults)
	validateLabelSelector(rules.Sub(term, "namespaceSelector"), path+".namespaceSelector", faults)
	for i, ns := range rules.Texts(term, "namespaces") {
		for _, msg := range rules.Label(ns) {
			faults.Invalid(rules.At(path+".namespaces", i), ns, msg)
		}
	}
	key := rules.Text(term, "topologyKey")
	if key == "" {
		faults.Required(path+".topologyKey", "can not be empty")
	}
	for _, msg := range rules.QualifiedName(key) {
		faults.Invalid(path+".topologyKey", key, msg)
	}
}

// validateLabelSelector checks a selector at path; nil is fine.
func validateLabelSelector(s schema.Tree, path string, faults *schema.Faults) {
	rules.ValidateLabels(rules.Sub(s, "matchLabels"), path+".matchLabels", faults)
	for i, e := range rules.Trees(s, "matchExpressions") {
		at := rules.At(path+".matchExpressions", i)
		if !validateMembership(e, at, faults) {
			faults.Invalid(at+".operator", rules.Text(e, "operator"), "not a valid selector operator")
		}
		key := rules.Text(e, "key")
		for _, msg := range rules.QualifiedName(key) {
			faults.Invalid(at+".key", key, msg)
		}
		for j, v := range rules.Texts(e, "values") {
			for _, msg := range rules.LabelValue(v) {
				faults.Invalid(rules.At(at+".values", j), v, msg)
			}
		}
	}
}
