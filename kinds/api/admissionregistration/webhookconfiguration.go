package admissionregistration

import (
	"strings"

	"github.com/troupe-api/troupe/kinds/api/internal/webhook"
	"github.com/troupe-api/troupe/kinds/expressions"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// webhookStrategy is the strategy of both webhook configuration kinds. It accepts an unchanged
// invalid CA bundle, so that a client can update other webhooks in the configuration.
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

func conditionsOf(configuration tree.Tree) []any {
	var all []any
	for _, hook := range configuration.Objects("webhooks") {
		all = append(all, hook.List("matchConditions")...)
	}
	return all
}

// compileWebhookConditions reports match conditions that do not compile. Webhook match conditions
// have no params.
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
