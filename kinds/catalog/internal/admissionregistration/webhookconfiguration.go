package admissionregistration

import (
	"fmt"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/catalog/internal/webhook"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

func webhookRules() schema.Rules {
	return schema.Rules{
		Validate: func(obj tree.Tree, faults *schema.Faults) {
			for i, hook := range obj.Objects("webhooks") {
				validateWebhook(hook, tree.IndexPath("webhooks", i), faults)
			}
		},
		ValidateServed: func(obj, old tree.Tree, faults *schema.Faults) {
			var known []string
			for _, hook := range old.Objects("webhooks") {
				known = append(known, hook.Object("clientConfig").String("caBundle"))
			}
			for i, hook := range obj.Objects("webhooks") {
				webhook.ValidateCABundle(hook.Object("clientConfig").String("caBundle"), known, tree.IndexPath("webhooks", i)+".clientConfig.caBundle", faults)
			}
		},
	}
}

func validateWebhook(hook tree.Tree, path string, faults *schema.Faults) {
	validateDomainName(hook.String("name"), path+".name", faults)
	for i, rule := range hook.Objects("rules") {
		validateOperationRule(rule, tree.IndexPath(path+".rules", i), faults)
	}
	if hook.String("sideEffects") == "" {
		faults.Required(path+".sideEffects", "must specify one of None, NoneOnDryRun")
	}
	if n, ok := hook.Int("timeoutSeconds"); ok && (n < 1 || n > 30) {
		faults.Invalid(path+".timeoutSeconds", n, "the timeout value must be between 1 and 30 seconds")
	}
	field.LabelSelector(hook.Object("namespaceSelector"), path+".namespaceSelector", faults)
	field.LabelSelector(hook.Object("objectSelector"), path+".objectSelector", faults)
	client := hook.Object("clientConfig")
	webhook.ValidateClientConfig(client, path+".clientConfig", faults)
	webhook.ValidateReviewVersions(hook.Strings("admissionReviewVersions"), path+".admissionReviewVersions", faults)
	validateMatchConditions(hook, path, faults)
}

// validateDomainName requires a domain of at least three segments, as in "a.example.com".
func validateDomainName(name, path string, faults *schema.Faults) {
	if name == "" {
		faults.Required(path)
		return
	}
	for _, msg := range rules.Subdomain(name) {
		faults.Invalid(path, name, msg)
	}
	if strings.Count(name, ".") < 2 {
		faults.Invalid(path, name, "should be a domain with at least three segments separated by dots")
	}
}

// maxMatchConditions bounds the conditions of one webhook or policy.
const maxMatchConditions = 64

// validateMatchConditions checks the structure of match conditions; their expressions are not compiled.
func validateMatchConditions(t tree.Tree, path string, faults *schema.Faults) {
	conditions := t.Objects("matchConditions")
	path += ".matchConditions"
	if len(conditions) > maxMatchConditions {
		faults.TooMany(path, len(conditions), maxMatchConditions)
	}
	for i, c := range conditions {
		at := tree.IndexPath(path, i)
		if strings.TrimSpace(c.String("expression")) == "" {
			faults.Required(at + ".expression")
		}
		field.Require(c, at, faults, "name")
		field.Format(c, "name", at, faults, rules.QualifiedName)
	}
}

// validateOperationRule checks which operations on which resources a rule matches.
func validateOperationRule(rule tree.Tree, path string, faults *schema.Faults) {
	operations := rule.Strings("operations")
	field.Require(rule, path, faults, "operations")
	validateWildcardAlone(operations, path+".operations", "operations", faults)
	for i, op := range operations {
		if !slices.Contains(admissionOperations, op) {
			faults.NotSupported(tree.IndexPath(path+".operations", i), op, admissionOperations)
		}
	}
	field.Require(rule, path, faults, "apiGroups", "apiVersions")
	validateWildcardAlone(rule.Strings("apiGroups"), path+".apiGroups", "API groups", faults)
	versions := rule.Strings("apiVersions")
	validateWildcardAlone(versions, path+".apiVersions", "API versions", faults)
	for i, v := range versions {
		if v == "" {
			faults.Required(tree.IndexPath(path+".apiVersions", i))
		}
	}
	field.Require(rule, path, faults, "resources")
	validateRuleResources(rule.Strings("resources"), path+".resources", faults)
}

var admissionOperations = []string{"*", "CONNECT", "CREATE", "DELETE", "UPDATE"}

// validateWildcardAlone refuses other choices beside "*".
func validateWildcardAlone(choices []string, path, what string, faults *schema.Faults) {
	if len(choices) > 1 && slices.Contains(choices, "*") {
		faults.Invalid(path, choices, "if '*' is present, must not specify other "+what)
	}
}

// validateRuleResources checks resources of the forms "resource" and "resource/sub-resource", where
// each part may be "*". What a wildcard covers must not be listed again.
func validateRuleResources(resources []string, path string, faults *schema.Faults) {
	allOf, everywhere := map[string]bool{}, map[string]bool{} // "x/*" and "*/x"
	plain := false
	for i, r := range resources {
		at := tree.IndexPath(path, i)
		resource, sub, below := strings.Cut(r, "/")
		switch {
		case r == "":
			faults.Required(at)
			continue
		case !below:
			plain = plain || r != "*"
			continue
		}
		if allOf[resource] {
			faults.Invalid(at, r, fmt.Sprintf("if '%s/*' is present, must not specify %s", resource, r))
		}
		if everywhere[sub] {
			faults.Invalid(at, r, fmt.Sprintf("if '*/%s' is present, must not specify %s", sub, r))
		}
		allOf[resource] = allOf[resource] || sub == "*"
		everywhere[sub] = everywhere[sub] || resource == "*"
	}
	if len(resources) > 1 && slices.Contains(resources, "*/*") {
		faults.Invalid(path, resources, "if '*/*' is present, must not specify other resources")
	}
	if plain && slices.Contains(resources, "*") {
		faults.Invalid(path, resources, "if '*' is present, must not specify other resources without subresources")
	}
}
