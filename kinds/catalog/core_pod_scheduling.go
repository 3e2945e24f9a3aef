package catalog

import (
	"fmt"
	"strconv"

	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

const nonNegativeMsg = "must be greater than or equal to 0"

func boundsMsg(low, high int64) string {
	return fmt.Sprintf("must be between %d and %d, inclusive", low, high)
}

// validatePlacement checks what says where a Pod may run.
func validatePlacement(spec schema.Tree, path string, faults *schema.Faults) {
	rules.ValidateLabels(rules.Nested(spec, "nodeSelector"), path+".nodeSelector", faults)
	for i, t := range rules.Trees(spec, "tolerations") {
		validateToleration(t, rules.IndexPath(path+".tolerations", i), faults)
	}
	validateTopologySpread(spec, path+".topologySpreadConstraints", faults)
	affinity := rules.Nested(spec, "affinity")
	validateNodeAffinity(rules.Nested(affinity, "nodeAffinity"), path+".affinity.nodeAffinity", faults)
	for _, name := range []string{"podAffinity", "podAntiAffinity"} {
		validatePodAffinity(rules.Nested(affinity, name), path+".affinity."+name, faults)
	}
}

func validateToleration(t schema.Tree, path string, faults *schema.Faults) {
	key, operator := rules.String(t, "key"), rules.String(t, "operator")
	validateFormat(t, "key", path, faults, rules.QualifiedName)
	if key == "" && operator != "Exists" {
		faults.Invalid(path+".operator", operator, "operator must be Exists when `key` is empty, which means \"match all values and all keys\"")
	}
	if rules.Has(t, "tolerationSeconds") && rules.String(t, "effect") != "NoExecute" {
		faults.Invalid(path+".effect", rules.String(t, "effect"), "effect must be 'NoExecute' when `tolerationSeconds` is set")
	}
	switch operator {
	case "", "Equal":
		for _, msg := range rules.LabelValue(rules.String(t, "value")) {
			faults.Invalid(path+".operator", rules.String(t, "value"), msg)
		}
	case "Exists":
		if rules.String(t, "value") != "" {
			faults.Invalid(path+".operator", rules.String(t, "value"), "value must be empty when `operator` is 'Exists'")
		}
	}
}

func validateTopologySpread(spec schema.Tree, path string, faults *schema.Faults) {
	seen := map[string]bool{}
	for i, c := range rules.Trees(spec, "topologySpreadConstraints") {
		at := rules.IndexPath(path, i)
		if n, _ := rules.Int(c, "maxSkew"); n <= 0 {
			faults.Invalid(at+".maxSkew", n, "must be greater than zero")
		}
		if rules.String(c, "topologyKey") == "" {
			faults.Required(at+".topologyKey", "can not be empty")
		}
		validateFormat(c, "topologyKey", at, faults, rules.QualifiedName)
		if rules.String(c, "whenUnsatisfiable") == "" {
			faults.NotSupported(at+".whenUnsatisfiable", "", []string{"DoNotSchedule", "ScheduleAnyway"})
		}
		if n, ok := rules.Int(c, "minDomains"); ok {
			if n <= 0 {
				faults.Invalid(at+".minDomains", n, "must be greater than zero")
			}
			if action := rules.String(c, "whenUnsatisfiable"); action == "ScheduleAnyway" {
				faults.Invalid(at+".minDomains", n, "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not "+action)
			}
		}
		validateLabelSelector(rules.Nested(c, "labelSelector"), at+".labelSelector", faults)
		pair := fmt.Sprintf("{%s, %s}", rules.String(c, "topologyKey"), rules.String(c, "whenUnsatisfiable"))
		if seen[pair] {
			faults.Duplicate(at+".{topologyKey, whenUnsatisfiable}", pair)
		}
		seen[pair] = true
	}
}

func validateNodeAffinity(a schema.Tree, path string, faults *schema.Faults) {
	if must := rules.Nested(a, "requiredDuringSchedulingIgnoredDuringExecution"); must != nil {
		at := path + ".requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
		terms := rules.Trees(must, "nodeSelectorTerms")
		if len(terms) == 0 {
			faults.Required(at, "must have at least one node selector term")
		}
		for i, term := range terms {
			validateNodeTerm(term, rules.IndexPath(at, i), faults)
		}
	}
	at := path + ".preferredDuringSchedulingIgnoredDuringExecution"
	for i, p := range rules.Trees(a, "preferredDuringSchedulingIgnoredDuringExecution") {
		validateWeight(p, rules.IndexPath(at, i), faults)
		validateNodeTerm(rules.Nested(p, "preference"), rules.IndexPath(at, i)+".preference", faults)
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
		at := rules.IndexPath(path+".matchExpressions", i)
		validateNodeRequirement(e, at, faults)
		key := rules.String(e, "key")
		for _, msg := range rules.QualifiedName(key) {
			faults.Invalid(at+".key", key, msg)
		}
	}
	for i, e := range rules.Trees(term, "matchFields") {
		at := rules.IndexPath(path+".matchFields", i)
		validateEnum(e, "operator", at, faults, "In", "NotIn")
		if len(rules.Items(e, "values")) != 1 {
			faults.Required(at+".values", "must be only one value when `operator` is 'In' or 'NotIn' for node field selector")
		}
		if key := rules.String(e, "key"); key != "metadata.name" {
			faults.Invalid(at+".key", key, "not a valid field selector key")
		}
	}
}

func validateNodeRequirement(e schema.Tree, path string, faults *schema.Faults) {
	switch operator := rules.String(e, "operator"); {
	case validateOperatorValues(e, path, faults):
	case operator == "Gt", operator == "Lt":
		if values := rules.Strings(e, "values"); len(values) != 1 {
			faults.Required(path+".values", "must be specified single value when `operator` is 'Lt' or 'Gt'")
		} else if _, err := strconv.ParseInt(values[0], 10, 64); err != nil {
			faults.Invalid(rules.IndexPath(path+".values", 0), values[0], "must be an integer when `operator` is 'Lt' or 'Gt'")
		}
	default:
		faults.Invalid(path+".operator", operator, "not a valid selector operator")
	}
}

// validateOperatorValues checks an expression whose operator asks for values, or for none,
// and says whether it is one.
func validateOperatorValues(e schema.Tree, path string, faults *schema.Faults) bool {
	values := rules.Strings(e, "values")
	switch rules.String(e, "operator") {
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
		validatePodTerm(term, rules.IndexPath(path+"."+must, i), faults)
	}
	for i, p := range rules.Trees(a, should) {
		at := rules.IndexPath(path+"."+should, i)
		validateWeight(p, at, faults)
		validatePodTerm(rules.Nested(p, "podAffinityTerm"), at+".podAffinityTerm", faults)
	}
}

func validatePodTerm(term schema.Tree, path string, faults *schema.Faults) {
	validateLabelSelector(rules.Nested(term, "labelSelector"), path+".labelSelector", faults)
	validateLabelSelector(rules.Nested(term, "namespaceSelector"), path+".namespaceSelector", faults)
	for i, ns := range rules.Strings(term, "namespaces") {
		for _, msg := range rules.Label(ns) {
			faults.Invalid(rules.IndexPath(path+".namespaces", i), ns, msg)
		}
	}
	key := rules.String(term, "topologyKey")
	if key == "" {
		faults.Required(path+".topologyKey", "can not be empty")
	}
	for _, msg := range rules.QualifiedName(key) {
		faults.Invalid(path+".topologyKey", key, msg)
	}
}

// validateLabelSelector checks a selector at path; nil is fine.
func validateLabelSelector(s schema.Tree, path string, faults *schema.Faults) {
	rules.ValidateLabels(rules.Nested(s, "matchLabels"), path+".matchLabels", faults)
	for i, e := range rules.Trees(s, "matchExpressions") {
		at := rules.IndexPath(path+".matchExpressions", i)
		if !validateOperatorValues(e, at, faults) {
			faults.Invalid(at+".operator", rules.String(e, "operator"), "not a valid selector operator")
		}
		key := rules.String(e, "key")
		for _, msg := range rules.QualifiedName(key) {
			faults.Invalid(at+".key", key, msg)
		}
		for j, v := range rules.Strings(e, "values") {
			for _, msg := range rules.LabelValue(v) {
				faults.Invalid(rules.IndexPath(at+".values", j), v, msg)
			}
		}
	}
}
