package daemon

import (
	"context"
	"fmt"
	"net"
	"strings"

	"github.com/troupe-api/troupe/policy/admission"
	"github.com/troupe-api/troupe/policy/admission/config"
	"github.com/troupe-api/troupe/policy/admission/match"
	"github.com/troupe-api/troupe/policy/admission/webhook"
	"github.com/troupe-api/troupe/policy/authz"
	"github.com/troupe-api/troupe/policy/kubeconfig"
	"github.com/troupe-api/troupe/policy/services"
	"github.com/troupe-api/troupe/policy/webhookclient"
)

// parseServiceAddresses reads addresses of Services that are given, name.namespace=host:port, by name.namespace.
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

// webhookPlugins are the plugins that ask webhooks. What they count is written with the daemon's metrics. From here on
// conversion webhooks can be asked, too.
func (d *Daemon) webhookPlugins(authorizer authz.Authorizer, namespaces *match.Namespaces, configuration *config.Config) ([]admission.Registration, error) {
	given, err := parseServiceAddresses(d.config.Admission.ServiceResolver)
	if err != nil {
		return nil, err
	}
	resolver := services.NewResolver(d.background.ctx, d.objects, d.naming, given)
	d.webhookMetrics = webhook.NewMetrics()
	options := func(plugin string) (webhook.Options, webhookclient.Dialer, error) {
		dialer := webhookclient.Dialer{Resolver: resolver}
		o := webhook.Options{Naming: d.naming, Authorizer: authorizer, Namespaces: namespaces, Served: d.kinds.Serves, Metrics: d.webhookMetrics, Conditions: &d.conditionMetrics, Log: d.log}
		path, err := webhook.ParseConfig(configuration.For(plugin), d.naming)
		if err != nil {
			return o, dialer, misconfigured(plugin, err)
		}
		if path != "" {
			if dialer.Users, err = kubeconfig.OpenUsers(path, d.log); err != nil {
				return o, dialer, err
			}
		}
		o.Callers = webhook.NewCallers(dialer)
		context.AfterFunc(d.background.ctx, o.Callers.Close)
		return o, dialer, nil
	}
	mutating, dialer, err := options("MutatingAdmissionWebhook")
	if err != nil {
		return nil, err
	}
	d.conversionWebhooks.Start(dialer) // with the credentials for webhooks that may change objects, too
	validating, _, err := options("ValidatingAdmissionWebhook")
	if err != nil {
		return nil, err
	}
	return []admission.Registration{webhook.MutatingAdmissionWebhook(mutating), webhook.ValidatingAdmissionWebhook(validating)}, nil
}
