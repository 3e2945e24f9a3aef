package admissionregistration

import (
	"strings"

	"github.com/troupe-api/troupe/kinds/catalog/internal/webhook"
	"github.com/troupe-api/troupe/kinds/expressions"
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
