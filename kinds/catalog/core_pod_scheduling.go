package catalog

import (
	"fmt"
	"strconv"

	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

const nonNegativeMsg = "must be greater than or equal to 0"

func boundsMsg(low, high int64) string {
	return fmt.Sprintf("must be between %d and %d, inclusive", low, high)
}

// validatePlacement checks what says where a Pod may run.
func validatePlacement(spec tree.Tree, path string, faults *schema.Faults) {
	rules.ValidateLabels(spec.Object("nodeSelector"), path+".nodeSelector", faults)
	for i, t := range spec.Objects("tolerations") {
		validateToleration(t, tree.IndexPath(path+".tolerations", i), faults)
	}
	validateTopologySpread(spec, path+".topologySpreadConstraints", faults)
	affinity := spec.Object("affinity")
	validateNodeAffinity(affinity.Object("nodeAffinity"), path+".affinity.nodeAffinity", faults)
	for _, name := range []string{"podAffinity", "podAntiAffinity"} {
		validatePodAffinity(affinity.Object(name), path+".affinity."+name, faults)
	}
}

func validateToleration(t tree.Tree, path string, faults *schema.Faults) {
	key, operator := t.String("key"), t.String("operator")
	validateFormat(t, "key", path, faults, rules.QualifiedName)
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

func validateTopologySpread(spec tree.Tree, path string, faults *schema.Faults) {
	seen := map[string]bool{}
	for i, c := range spec.Objects("topologySpreadConstraints") {
		at := tree.IndexPath(path, i)
		if n, _ := c.Int("maxSkew"); n <= 0 {
			faults.Invalid(at+".maxSkew", n, "must be greater than zero")
		}
		if c.String("topologyKey") == "" {
			faults.Required(at+".topologyKey", "can not be empty")
		}
		validateFormat(c, "topologyKey", at, faults, rules.QualifiedName)
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
		validateLabelSelector(c.Object("labelSelector"), at+".labelSelector", faults)
		pair := fmt.Sprintf("{%s, %s}", c.String("topologyKey"), c.String("whenUnsatisfiable"))
		if seen[pair] {
			faults.Duplicate(at+".{topologyKey, whenUnsatisfiable}", pair)
		}
		seen[pair] = true
	}
}

func validateNodeAffinity(a tree.Tree, path string, faults *schema.Faults) {
	if must := a.Object("requiredDuringSchedulingIgnoredDuringExecution"); must != nil {
		at := path + ".requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
		terms := must.Objects("nodeSelectorTerms")
		if len(terms) == 0 {
			faults.Required(at, "must have at least one node selector term")
		}
		for i, term := range terms {
			validateNodeTerm(term, tree.IndexPath(at, i), faults)
		}
	}
	at := path + ".preferredDuringSchedulingIgnoredDuringExecution"
	for i, p := range a.Objects("preferredDuringSchedulingIgnoredDuringExecution") {
		validateWeight(p, tree.IndexPath(at, i), faults)
		validateNodeTerm(p.Object("preference"), tree.IndexPath(at, i)+".preference", faults)
	}
}

func validateWeight(p tree.Tree, path string, faults *schema.Faults) {
	if n, _ := p.Int("weight"); n < 1 || n > 100 {
		faults.Invalid(path+".weight", n, "must be in the range 1-100")
	}
}

// validateNodeTerm checks one term of a node selector.
func validateNodeTerm(term tree.Tree, path string, faults *schema.Faults) {
	for i, e := range term.Objects("matchExpressions") {
		at := tree.IndexPath(path+".matchExpressions", i)
		validateNodeRequirement(e, at, faults)
		key := e.String("key")
		for _, msg := range rules.QualifiedName(key) {
			faults.Invalid(at+".key", key, msg)
		}
	}
	for i, e := range term.Objects("matchFields") {
		at := tree.IndexPath(path+".matchFields", i)
		validateEnum(e, "operator", at, faults, "In", "NotIn")
		if len(e.List("values")) != 1 {
			faults.Required(at+".values", "must be only one value when `operator` is 'In' or 'NotIn' for node field selector")
		}
		if key := e.String("key"); key != "metadata.name" {
			faults.Invalid(at+".key", key, "not a valid field selector key")
		}
	}
}

func validateNodeRequirement(e tree.Tree, path string, faults *schema.Faults) {
	switch operator := e.String("operator"); {
	case validateOperatorValues(e, path, faults):
	case operator == "Gt", operator == "Lt":
		if values := e.Strings("values"); len(values) != 1 {
			faults.Required(path+".values", "must be specified single value when `operator` is 'Lt' or 'Gt'")
		} else if _, err := strconv.ParseInt(values[0], 10, 64); err != nil {
			faults.Invalid(tree.IndexPath(path+".values", 0), values[0], "must be an integer when `operator` is 'Lt' or 'Gt'")
		}
	default:
		faults.Invalid(path+".operator", operator, "not a valid selector operator")
	}
}

// validateOperatorValues checks an expression whose operator asks for values, or for none,
// and says whether it is one.
func validateOperatorValues(e tree.Tree, path string, faults *schema.Faults) bool {
	values := e.Strings("values")
	switch e.String("operator") {
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

func validatePodAffinity(a tree.Tree, path string, faults *schema.Faults) {
	const must, should = "requiredDuringSchedulingIgnoredDuringExecution", "preferredDuringSchedulingIgnoredDuringExecution"
	for i, term := range a.Objects(must) {
		validatePodTerm(term, tree.IndexPath(path+"."+must, i), faults)
	}
	for i, p := range a.Objects(should) {
		at := tree.IndexPath(path+"."+should, i)
		validateWeight(p, at, faults)
		validatePodTerm(p.Object("podAffinityTerm"), at+".podAffinityTerm", faults)
	}
}

func validatePodTerm(term tree.Tree, path string, faults *schema.Faults) {
	validateLabelSelector(term.Object("labelSelector"), path+".labelSelector", faults)
	validateLabelSelector(term.Object("namespaceSelector"), path+".namespaceSelector", faults)
	for i, ns := range term.Strings("namespaces") {
		for _, msg := range rules.Label(ns) {
			faults.Invalid(tree.IndexPath(path+".namespaces", i), ns, msg)
		}
	}
	key := term.String("topologyKey")
	if key == "" {
		faults.Required(path+".topologyKey", "can not be empty")
	}
	for _, msg := range rules.QualifiedName(key) {
		faults.Invalid(path+".topologyKey", key, msg)
	}
}

// validateLabelSelector checks a selector at path; nil is fine.
func validateLabelSelector(s tree.Tree, path string, faults *schema.Faults) {
	rules.ValidateLabels(s.Object("matchLabels"), path+".matchLabels", faults)
	for i, e := range s.Objects("matchExpressions") {
		at := tree.IndexPath(path+".matchExpressions", i)
		if !validateOperatorValues(e, at, faults) {
			faults.Invalid(at+".operator", e.String("operator"), "not a valid selector operator")
		}
		key := e.String("key")
		for _, msg := range rules.QualifiedName(key) {
			faults.Invalid(at+".key", key, msg)
		}
		for j, v := range e.Strings("values") {
			for _, msg := range rules.LabelValue(v) {
				faults.Invalid(tree.IndexPath(at+".values", j), v, msg)
			}
		}
	}
}
