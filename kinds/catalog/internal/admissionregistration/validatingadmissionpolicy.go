package admissionregistration

import (
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// maxAuditAnnotations bounds the annotations of one policy.
const maxAuditAnnotations = 20

func admissionPolicyRules() schema.Rules {
	return schema.Rules{Prepare: prepareAdmissionPolicy, Validate: validateAdmissionPolicy}
}

func prepareAdmissionPolicy(obj, old tree.Tree) {
	if old == nil {
		obj["status"] = tree.Tree{}
		return
	}
	obj.CopyField(old, "status")
}

// validateAdmissionPolicy checks the structure of a policy, not its expressions.
func validateAdmissionPolicy(obj tree.Tree, faults *schema.Faults) {
	spec := obj.Object("spec")
	if kind, ok := spec["paramKind"].(tree.Tree); ok {
		validateParamKind(kind, "spec.paramKind", faults)
	}
	if match, ok := spec["matchConstraints"].(tree.Tree); ok {
		validateMatchResources(match, "spec.matchConstraints", faults)
		field.Require(match, "spec.matchConstraints", faults, "resourceRules")
	} else {
		faults.Required("spec.matchConstraints")
	}
	validateMatchConditions(spec, "spec", faults)
	for i, v := range spec.Objects("variables") {
		validateVariable(v, tree.IndexPath("spec.variables", i), faults)
	}
	validations, annotations := spec.Objects("validations"), spec.Objects("auditAnnotations")
	if len(validations) == 0 && len(annotations) == 0 {
		for _, name := range []string{"validations", "auditAnnotations"} {
			faults.Required("spec."+name, "validations or auditAnnotations must contain at least one item")
		}
	}
	for i, v := range validations {
		validateAdmissionExpression(v, tree.IndexPath("spec.validations", i), faults)
	}
	validateAuditAnnotations(annotations, faults)
}

func validateParamKind(kind tree.Tree, path string, faults *schema.Faults) {
	field.Require(kind, path, faults, "apiVersion", "kind")
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
	if name := kind.String("kind"); name != "" {
		field.KindName(name, path+".kind", faults)
	}
}

func validateMatchResources(match tree.Tree, path string, faults *schema.Faults) {
	field.LabelSelector(match.Object("namespaceSelector"), path+".namespaceSelector", faults)
	field.LabelSelector(match.Object("objectSelector"), path+".objectSelector", faults)
	for _, list := range []string{"resourceRules", "excludeResourceRules"} {
		for i, rule := range match.Objects(list) {
			at := tree.IndexPath(path+"."+list, i)
			validateOperationRule(rule, at, faults)
			names := rule.Strings("resourceNames")
			seen := rules.Seen{}
			for j, name := range names {
				for _, msg := range rules.PathSegment(name) {
					faults.Invalid(tree.IndexPath(at+".resourceNames", j), name, msg)
				}
				if seen.Repeats(name) {
					faults.Duplicate(tree.IndexPath(at+".resourceNames", j), name)
				}
			}
		}
	}
}

func validateVariable(v tree.Tree, path string, faults *schema.Faults) {
	name := v.String("name")
	switch {
	case strings.TrimSpace(name) == "":
		faults.Required(path+".name", "name is not specified")
	case !isIdentifier(name):
		faults.Invalid(path+".name", name, "name is not a valid CEL identifier")
	}
	if strings.TrimSpace(v.String("expression")) == "" {
		faults.Required(path+".expression", "expression is not specified")
	}
}

// isIdentifier reports whether s can be an identifier in CEL.
func isIdentifier(s string) bool {
	for i, r := range s {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != "" && !slices.Contains(reservedWords, s)
}

// reservedWords cannot be identifiers in CEL.
var reservedWords = []string{
	"true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if", "import",
	"let", "loop", "package", "namespace", "return", "var", "void", "while",
}

// validateAdmissionExpression checks one validation of a policy.
func validateAdmissionExpression(v tree.Tree, path string, faults *schema.Faults) {
	expression := strings.TrimSpace(v.String("expression"))
	if expression == "" {
		faults.Required(path+".expression", "expression is not specified")
	}
	if text := v.String("messageExpression"); text != "" && strings.TrimSpace(text) == "" {
		faults.Invalid(path+".messageExpression", text, "must be non-empty if specified")
	}
	field.MessageText(v, expression, "expression", path, faults)
	field.OptionalEnum(v, "reason", path, faults, "Forbidden", "Invalid", "RequestEntityTooLarge", "Unauthorized")
}

func validateAuditAnnotations(annotations []tree.Tree, faults *schema.Faults) {
	const path = "spec.auditAnnotations"
	if len(annotations) > maxAuditAnnotations {
		faults.TooMany(path, len(annotations), maxAuditAnnotations)
	}
	seen := map[string]bool{}
	for i, a := range annotations {
		at, key := tree.IndexPath(path, i), a.String("key")
		field.Require(a, at, faults, "key")
		field.Format(a, "key", at, faults, rules.QualifiedName)
		if strings.TrimSpace(a.String("valueExpression")) == "" {
			faults.Required(at+".valueExpression", "valueExpression is not specified")
		}
		if key != "" && seen[key] {
			faults.Duplicate(at+".key", key)
		}
		seen[key] = true
	}
}
