package daemon

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"strings"

	"github.com/troupe-api/troupe/cmd/troupe/internal/features"
	"github.com/troupe-api/troupe/policy/admission"
	"github.com/troupe-api/troupe/policy/admission/config"
	"github.com/troupe-api/troupe/policy/admission/match"
	"github.com/troupe-api/troupe/policy/admission/webhook"
	"github.com/troupe-api/troupe/policy/kubeconfig"
	"github.com/troupe-api/troupe/policy/services"
	"github.com/troupe-api/troupe/policy/webhookclient"
)

func parseServiceAddresses(texts []string) (map[string]string, error) {
	given := map[string]string{}
	for _, text := range texts {
		service, address, ok := strings.Cut(text, "=")
		name, namespace, dotted := strings.Cut(service, ".")
		_, port, err := net.SplitHostPort(address)
		if !ok || !dotted || name == "" || namespace == "" || strings.Contains(namespace, ".") || err != nil || port == "" {
			return nil, fmt.Errorf("%q is not of the form name.namespace=host:port", text)
		}
		given[service] = address
	}
	return given, nil
}

// webhookPlugins returns the plugins that call webhooks, and starts the conversion webhooks.
func (p *policies) webhookPlugins(namespaces *match.Namespaces, configuration config.Config) ([]admission.Registration, error) {
	given, err := parseServiceAddresses(p.config.Admission.ServiceResolver)
	if err != nil {
		return nil, err
	}
	resolver := services.NewResolver(p.ctx, p.storage.objects, p.naming, given)
	options := func(plugin string) (webhook.Options, webhookclient.Dialer, error) {
		dialer := webhookclient.Dialer{Resolver: resolver}
		o := webhook.Options{Naming: p.naming, Authorizer: p.authorizer, Namespaces: namespaces, Served: p.storage.kinds.Serves, Reviews: !p.features.Enabled(features.ExcludeReviews), Metrics: p.webhookMetrics, Conditions: p.conditionMetrics, Log: p.log, Skip: p.skipWebhook}
		c := configuration[plugin]
		if path := cmp.Or(c.String("kubeConfigFile"), c.String("clientConfigFile")); path != "" {
			if dialer.Users, err = kubeconfig.OpenUsers(path, p.log); err != nil {
				return o, dialer, err
			}
		}
		o.Callers = webhook.NewCallers(dialer)
		context.AfterFunc(p.ctx, o.Callers.Close)
		return o, dialer, nil
	}
	mutating, dialer, err := options("MutatingAdmissionWebhook")
	if err != nil {
		return nil, err
	}
	p.storage.conversionWebhooks.Start(dialer) // shares the credentials of mutating webhooks
	context.AfterFunc(p.ctx, p.storage.conversionWebhooks.Close)
	validating, _, err := options("ValidatingAdmissionWebhook")
	if err != nil {
		return nil, err
	}
	return []admission.Registration{webhook.MutatingAdmissionWebhook(mutating), webhook.ValidatingAdmissionWebhook(validating)}, nil
}
