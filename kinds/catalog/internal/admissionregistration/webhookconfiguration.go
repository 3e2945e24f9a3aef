package admissionregistration

import (
	"fmt"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/catalog/internal/webhook"
	"github.com/troupe-api/troupe/kinds/expressions"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// webhookStrategy serves both kinds of configurations, whose webhooks differ in fields that the
// declarations cover. A bundle that does not parse is refused unless the object had it before: then
// it may stay, so that other webhooks of the configuration can still be changed.
type webhookStrategy struct {
	schema.DefaultStrategy
	compiler *expressions.Compiler
}

func (webhookStrategy) Validate(obj, _ tree.Tree, faults *schema.Faults) {
	for i, hook := range obj.Objects("webhooks") {
		validateWebhook(hook, tree.IndexPath("webhooks", i), faults)
	}
}

func (s webhookStrategy) ValidateServed(obj, old tree.Tree, faults *schema.Faults) {
	var known []string
	for _, hook := range old.Objects("webhooks") {
		known = append(known, hook.Object("clientConfig").String("caBundle"))
	}
	for i, hook := range obj.Objects("webhooks") {
		webhook.ValidateCABundle(hook.Object("clientConfig").String("caBundle"), known, tree.IndexPath("webhooks", i)+".clientConfig.caBundle", faults)
	}
	if !tree.SemanticEqual(conditionsOf(obj), conditionsOf(old)) {
		compileWebhookConditions(s.compiler, obj, faults)
	}
}

// conditionsOf are the match conditions of all webhooks. Those that have not changed were compiled by a
// server that may have known other functions.
func conditionsOf(configuration tree.Tree) []any {
	var all []any
	for _, hook := range configuration.Objects("webhooks") {
		all = append(all, hook.List("matchConditions")...)
	}
	return all
}

// compileWebhookConditions reports the match conditions that do not compile. Conditions of webhooks know no
// parameters, which the second argument says.
func compileWebhookConditions(compiler *expressions.Compiler, configuration tree.Tree, faults *schema.Faults) {
	for i, hook := range configuration.Objects("webhooks") {
		for j, x := range compiler.Conditions(hook.Objects("matchConditions")) {
			if x.Err != nil && strings.TrimSpace(x.Text) != "" {
				at := tree.IndexPath(tree.IndexPath("webhooks", i)+".matchConditions", j)
				faults.Invalid(at+".expression", x.Text, x.Err.Error())
			}
		}
	}
}

// validateWebhook checks one webhook. A request waits for it in turn with others, and the API call as a
// whole ends after 60 seconds; hence the upper bound of the timeout.
func validateWebhook(hook tree.Tree, path string, faults *schema.Faults) {
	validateDomainName(hook.String("name"), path+".name", faults)
	for i, rule := range hook.Objects("rules") {
		validateOperationRule(rule, tree.IndexPath(path+".rules", i), faults)
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

// validateDomainName requires a domain of at least three segments, as in "a.example.com". The names are
// keys of merges and appear in audit annotations and metrics, where a domain keeps webhooks of different
// authors apart.
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

// validateMatchConditions requires expressions of more than white space; they are not compiled. Policies
// and webhooks have conditions of the same form.
func validateMatchConditions(t tree.Tree, path string, faults *schema.Faults) {
	for i, c := range t.Objects("matchConditions") {
		if strings.TrimSpace(c.String("expression")) == "" {
			faults.Required(tree.IndexPath(path+".matchConditions", i) + ".expression")
		}
	}
}

// validateOperationRule checks which operations on which resources a rule matches. The same type is part of
// webhooks and of policies. Version "" is refused, while group "" is the core group.
func validateOperationRule(rule tree.Tree, path string, faults *schema.Faults) {
	operations := rule.Strings("operations")
	validateWildcardAlone(operations, path+".operations", "operations", faults)
	for i, op := range operations {
		if !slices.Contains(admissionOperations, op) {
			faults.NotSupported(tree.IndexPath(path+".operations", i), op, admissionOperations)
		}
	}
	validateWildcardAlone(rule.Strings("apiGroups"), path+".apiGroups", "API groups", faults)
	versions := rule.Strings("apiVersions")
	validateWildcardAlone(versions, path+".apiVersions", "API versions", faults)
	for i, v := range versions {
		if v == "" {
			faults.Required(tree.IndexPath(path+".apiVersions", i))
		}
	}
	validateRuleResources(rule.Strings("resources"), path+".resources", faults)
}

// admissionOperations are in the order in which a fault lists them.
var admissionOperations = []string{"*", "CONNECT", "CREATE", "DELETE", "UPDATE"}

// validateWildcardAlone refuses other choices beside "*". The others would be redundant, which more often
// than not means that the author wanted them instead of all.
func validateWildcardAlone(choices []string, path, what string, faults *schema.Faults) {
	if len(choices) > 1 && slices.Contains(choices, "*") {
		faults.Invalid(path, choices, "if '*' is present, must not specify other "+what)
	}
}

// validateRuleResources checks resources of the forms "resource" and "resource/sub-resource", where each
// part may be "*". What a wildcard covers must not be listed again. "*" alone covers resources without
// their sub-resources, and "*/*" everything. The check goes by order: only what follows the wildcard that
// covers it is reported.
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
