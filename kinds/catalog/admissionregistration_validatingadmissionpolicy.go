package catalog

import (
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// maxAuditAnnotations bounds the annotations of one policy.
const maxAuditAnnotations = 20

func admissionPolicyRules() schema.Rules {
	return schema.Rules{Prepare: prepareAdmissionPolicy, Validate: validateAdmissionPolicy}
}

func prepareAdmissionPolicy(obj, old schema.Tree) {
	if old == nil {
		obj["status"] = schema.Tree{}
		return
	}
	rules.CopyField(obj, old, "status")
}

// validateAdmissionPolicy checks the structure of a policy, not its expressions.
func validateAdmissionPolicy(obj schema.Tree, faults *schema.Faults) {
	spec := rules.Nested(obj, "spec")
	if kind, ok := spec["paramKind"].(schema.Tree); ok {
		validateParamKind(kind, "spec.paramKind", faults)
	}
	if match, ok := spec["matchConstraints"].(schema.Tree); ok {
		validateMatchResources(match, "spec.matchConstraints", faults)
		requireFields(match, "spec.matchConstraints", faults, "resourceRules")
	} else {
		faults.Required("spec.matchConstraints")
	}
	validateMatchConditions(spec, "spec", faults)
	for i, v := range rules.Trees(spec, "variables") {
		validateVariable(v, rules.IndexPath("spec.variables", i), faults)
	}
	validations, annotations := rules.Trees(spec, "validations"), rules.Trees(spec, "auditAnnotations")
	if len(validations) == 0 && len(annotations) == 0 {
		for _, name := range []string{"validations", "auditAnnotations"} {
			faults.Required("spec."+name, "validations or auditAnnotations must contain at least one item")
		}
	}
	for i, v := range validations {
		validateAdmissionExpression(v, rules.IndexPath("spec.validations", i), faults)
	}
	validateAuditAnnotations(annotations, faults)
}

func validateParamKind(kind schema.Tree, path string, faults *schema.Faults) {
	requireFields(kind, path, faults, "apiVersion", "kind")
	version := rules.String(kind, "apiVersion")
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
	if name := rules.String(kind, "kind"); name != "" {
		validateKindName(name, path+".kind", faults)
	}
}

// validateKindName checks the name of a kind: a label, but for upper case.
func validateKindName(name, path string, faults *schema.Faults) {
	if messages := rules.Label1035(strings.ToLower(name)); len(messages) > 0 {
		faults.Invalid(path, name, "may have mixed case, but should otherwise match: "+strings.Join(messages, ","))
	}
}

func validateMatchResources(match schema.Tree, path string, faults *schema.Faults) {
	validateLabelSelector(rules.Nested(match, "namespaceSelector"), path+".namespaceSelector", faults)
	validateLabelSelector(rules.Nested(match, "objectSelector"), path+".objectSelector", faults)
	for _, list := range []string{"resourceRules", "excludeResourceRules"} {
		for i, rule := range rules.Trees(match, list) {
			at := rules.IndexPath(path+"."+list, i)
			validateOperationRule(rule, at, faults)
			names := rules.Strings(rule, "resourceNames")
			seen := rules.Seen{}
			for j, name := range names {
				for _, msg := range rules.PathSegment(name) {
					faults.Invalid(rules.IndexPath(at+".resourceNames", j), name, msg)
				}
				if seen.Repeats(name) {
					faults.Duplicate(rules.IndexPath(at+".resourceNames", j), name)
				}
			}
		}
	}
}

func validateVariable(v schema.Tree, path string, faults *schema.Faults) {
	name := rules.String(v, "name")
	switch {
	case strings.TrimSpace(name) == "":
		faults.Required(path+".name", "name is not specified")
	case !isIdentifier(name):
		faults.Invalid(path+".name", name, "name is not a valid CEL identifier")
	}
	if strings.TrimSpace(rules.String(v, "expression")) == "" {
		faults.Required(path+".expression", "expression is not specified")
	}
}

// isIdentifier tells whether an expression can call something by this name.
func isIdentifier(s string) bool {
	for i, r := range s {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != "" && !slices.Contains(reservedWords, s)
}

// reservedWords are those of the expression language.
var reservedWords = []string{
	"true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if", "import",
	"let", "loop", "package", "namespace", "return", "var", "void", "while",
}

// validateAdmissionExpression checks one validation of a policy.
func validateAdmissionExpression(v schema.Tree, path string, faults *schema.Faults) {
	expression := strings.TrimSpace(rules.String(v, "expression"))
	if expression == "" {
		faults.Required(path+".expression", "expression is not specified")
	}
	if text := rules.String(v, "messageExpression"); text != "" && strings.TrimSpace(text) == "" {
		faults.Invalid(path+".messageExpression", text, "must be non-empty if specified")
	}
	validateMessageText(v, expression, "expression", path, faults)
	validateOptionalEnum(v, "reason", path, faults, "Forbidden", "Invalid", "RequestEntityTooLarge", "Unauthorized")
}

// validateMessageText checks the message of an expression, which is one line, and must be
// there if the expression, which what names, is more than one.
func validateMessageText(v schema.Tree, expression, what, path string, faults *schema.Faults) {
	text := rules.String(v, "message")
	trimmed := strings.TrimSpace(text)
	switch {
	case text != "" && trimmed == "":
		faults.Invalid(path+".message", text, "message must be non-empty if specified")
	case strings.ContainsAny(trimmed, "\r\n"):
		faults.Invalid(path+".message", text, "message must not contain line breaks")
	case strings.ContainsAny(expression, "\r\n") && trimmed == "":
		faults.Required(path+".message", "message must be specified if "+what+" contains line breaks")
	}
}

func validateAuditAnnotations(annotations []schema.Tree, faults *schema.Faults) {
	const path = "spec.auditAnnotations"
	if len(annotations) > maxAuditAnnotations {
		faults.TooMany(path, len(annotations), maxAuditAnnotations)
	}
	seen := map[string]bool{}
	for i, a := range annotations {
		at, key := rules.IndexPath(path, i), rules.String(a, "key")
		requireFields(a, at, faults, "key")
		validateFormat(a, "key", at, faults, rules.QualifiedName)
		if strings.TrimSpace(rules.String(a, "valueExpression")) == "" {
			faults.Required(at+".valueExpression", "valueExpression is not specified")
		}
		if key != "" && seen[key] {
			faults.Duplicate(at+".key", key)
		}
		seen[key] = true
	}
}
