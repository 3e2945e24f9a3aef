package admissionregistration

import (
	"fmt"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/expressions"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

type admissionPolicyStrategy struct {
	schema.DefaultStrategy
	compiler *expressions.Compiler
}

func (s admissionPolicyStrategy) ValidateServed(obj, old tree.Tree, faults *schema.Faults) {
	validateExpressions(s.compiler.Validating, obj.Object("spec"), old.Object("spec"), faults)
}

// Prepare keeps the status, in which a controller records what type checking found.
func (admissionPolicyStrategy) Prepare(obj, old tree.Tree) {
	if old == nil {
		obj["status"] = tree.Tree{}
		return
	}
	obj.CopyField(old, "status")
}

// Validate checks the structure of a policy; its expressions are compiled elsewhere. A policy
// without a validation may still exist for its audit annotations alone. If both are missing, both
// are named, as either would do.
func (admissionPolicyStrategy) Validate(obj, _ tree.Tree, faults *schema.Faults) {
	spec := obj.Object("spec")
	validatePolicy(spec, faults)
	validations, annotations := spec.Objects("validations"), spec.Objects("auditAnnotations")
	if len(validations) == 0 && len(annotations) == 0 {
		for _, name := range []string{"validations", "auditAnnotations"} {
			faults.Required("spec."+name, "validations or auditAnnotations must contain at least one item")
		}
	}
	for i, v := range validations {
		validateAdmissionExpression(v, tree.IndexPath("spec.validations", i), faults)
	}
	validateAuditAnnotations(obj.Object("metadata").String("name"), annotations, faults)
}

// validatePolicy checks what validating and mutating policies have in common. matchConstraints may select
// by labels only in addition to rules: a policy for all resources says so with "*".
func validatePolicy(spec tree.Tree, faults *schema.Faults) {
	if kind, ok := spec["paramKind"].(tree.Tree); ok {
		validateParamKind(kind, "spec.paramKind", faults)
	}
	if match, ok := spec["matchConstraints"].(tree.Tree); ok {
		validateMatchResources(match, "spec.matchConstraints", faults)
		field.Require(match, "spec.matchConstraints", faults, "resourceRules")
	}
	validateMatchConditions(spec, "spec", faults)
	for i, v := range spec.Objects("variables") {
		validateVariable(v, tree.IndexPath("spec.variables", i), faults)
	}
}

// validateParamKind checks the API version of the parameters. Its form is "version" for the core group or
// "group/version"; whether such a kind is served is known only when the policy runs, so that policies may
// be installed before the definition of their parameters.
func validateParamKind(kind tree.Tree, path string, faults *schema.Faults) {
	version := kind.String("apiVersion")
	if strings.Count(version, "/") > 1 {
		faults.Invalid(path+".apiVersion", version, "unexpected GroupVersion string: "+version)
	} else if version != "" {
		group, name, both := strings.Cut(version, "/")
		if !both {
			group, name = "", version
		}
		if both {
			for _, msg := range rules.Subdomain(group) {
				faults.Invalid(path+".apiVersion", version, msg)
			}
		}
		for _, msg := range rules.Label1035(name) {
			faults.Invalid(path+".apiVersion", version, msg)
		}
	}
}

// validateMatchResources checks the constraints of a policy and of a binding. resourceNames has no
// wildcard, so a name given twice is a slip.
func validateMatchResources(match tree.Tree, path string, faults *schema.Faults) {
	field.LabelSelector(match.Object("namespaceSelector"), path+".namespaceSelector", faults)
	field.LabelSelector(match.Object("objectSelector"), path+".objectSelector", faults)
	for _, list := range []string{"resourceRules", "excludeResourceRules"} {
		for i, rule := range match.Objects(list) {
			at := tree.IndexPath(path+"."+list, i)
			validateOperationRule(rule, at, faults)
			seen := rules.Seen{}
			for j, name := range rule.Strings("resourceNames") {
				if seen.Repeats(name) {
					faults.Duplicate(tree.IndexPath(at+".resourceNames", j), name)
				}
			}
		}
	}
}

// validateVariable asks for an identifier because other expressions refer to it as variables.<name>.
func validateVariable(v tree.Tree, path string, faults *schema.Faults) {
	name := v.String("name")
	switch {
	case strings.TrimSpace(name) == "":
		faults.Required(path+".name", "name is not specified")
	case !isIdentifier(name):
		faults.Invalid(path+".name", name, "must be a valid CEL identifier")
	}
	if strings.TrimSpace(v.String("expression")) == "" {
		faults.Required(path+".expression", "expression is not specified")
	}
}

// isIdentifier reports whether s can be an identifier in CEL. The characters are those of ASCII, as in the
// grammar of the language.
func isIdentifier(s string) bool {
	for i, r := range s {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != "" && !slices.Contains(reservedWords, s)
}

// reservedWords cannot be identifiers in CEL. The language reserves most of them without using them, so
// that it can grow and be embedded in others.
var reservedWords = []string{
	"true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if", "import",
	"let", "loop", "package", "namespace", "return", "var", "void", "while",
}

// validateAdmissionExpression checks one validation of a policy. A message goes into a Status and into a
// warning header, which is a single line.
func validateAdmissionExpression(v tree.Tree, path string, faults *schema.Faults) {
	if strings.TrimSpace(v.String("expression")) == "" {
		faults.Required(path+".expression", "expression is not specified")
	}
	for _, name := range []string{"messageExpression", "message"} {
		text := v.String(name)
		switch trimmed := strings.TrimSpace(text); {
		case text != "" && trimmed == "":
			faults.Invalid(path+"."+name, text, "must be non-empty if specified")
		case name == "message" && strings.ContainsAny(trimmed, "\n\r"):
			faults.Invalid(path+"."+name, text, "must not contain line breaks")
		}
	}
}

// maxValueExpression is the longest expression of an annotation, in bytes. It is a bound of the text alone:
// the value it gives is bounded where the audit event is written.
const maxValueExpression = 5 << 10

// validateAuditAnnotations checks annotations, whose keys follow the name of the policy and a slash. The
// whole key is what appears in audit events, so that annotations of two policies cannot overwrite each
// other. Too long an expression has the reason Required, as clients know it.
func validateAuditAnnotations(policy string, annotations []tree.Tree, faults *schema.Faults) {
	const path = "spec.auditAnnotations"
	seen := map[string]bool{}
	for i, a := range annotations {
		at, key := tree.IndexPath(path, i), a.String("key")
		switch expression := strings.TrimSpace(a.String("valueExpression")); {
		case expression == "":
			faults.Required(at+".valueExpression", "valueExpression is not specified")
		case len(expression) > maxValueExpression:
			faults.Required(at+".valueExpression", fmt.Sprintf("must not exceed %d bytes in length", maxValueExpression))
		}
		for _, msg := range rules.QualifiedName(policy + "/" + key) {
			faults.Invalid(at+".key", policy+"/"+key, msg)
		}
		if key != "" && seen[key] {
			faults.Duplicate(at+".key", key)
		}
		seen[key] = true
	}
}

// validatePolicyStatus checks what the controller that looks at types writes of a policy.
func validatePolicyStatus(status, _ tree.Tree, faults *schema.Faults) {
	for i, w := range status.Object("typeChecking").Objects("expressionWarnings") {
		at := tree.IndexPath("status.typeChecking.expressionWarnings", i)
		field.Require(w, at, faults, "warning")
		if strings.TrimSpace(w.String("fieldRef")) == "" {
			faults.Required(at + ".fieldRef")
		}
	}
	field.Conditions(status, "status.conditions", faults)
}
