package daemon

import (
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/admission"
	"github.com/troupe-api/troupe/policy/admission/config"
	"github.com/troupe-api/troupe/policy/authz/rbac"
)

// newAdmissionChain builds the chain of all admission plugins, including more. It waits until the
// plugins' caches have synced, because a plugin must not decide on partial data.
func (p *policies) newAdmissionChain(more ...admission.Registration) (*admission.Chain, error) {
	configuration, err := config.Load(p.config.Admission.ConfigFile, p.storage.kinds)
	if err != nil {
		return nil, err
	}
	all, err := p.registrations(configuration)
	if err != nil {
		return nil, err
	}
	all = append(all, more...)
	switches := p.config.Admission.switches()
	p.warnOfSwitches(switches, all)
	for _, name := range configuration.Unread(all) {
		p.log.Warn("configuration of an admission plugin has no effect", "plugin", name)
	}
	chain := admission.New(p.naming, switches, all)
	for _, cache := range chain.Caches() {
		if err := cache.Follow(p.ctx, p.storage.objects); err != nil {
			return nil, err
		}
	}
	return chain, nil
}

var webhookConfigurations = map[string]string{
	"MutatingAdmissionWebhook": "mutatingwebhookconfigurations", "ValidatingAdmissionWebhook": "validatingwebhookconfigurations",
}

// warnOfSwitches logs plugin switches that have no effect. They are not errors, because
// configurations of kube-apiserver may name plugins that Troupe does not need.
func (p *policies) warnOfSwitches(switches admission.PluginConfig, all []admission.Registration) {
	for _, name := range switches.AlwaysEffective() {
		p.log.Warn("an admission plugin cannot be disabled", "plugin", name)
	}
	for _, name := range switches.Ineffective(all) {
		p.log.Warn("enabling or disabling an admission plugin has no effect", "plugin", name)
	}
	for plugin, resource := range webhookConfigurations {
		if !switches.Runs(plugin) && p.storage.kinds.Kind(p.naming.Group("admissionregistration"), "v1", resource) != nil {
			p.log.Warn("an admission plugin is disabled, but its configuration kinds are served; disable them with --runtime-config", "plugin", plugin, "resource", resource)
		}
	}
}

// followed returns the resources that policy depends on, with their platform profile names. A write
// to one of them returns only once it is in effect for the client's next request.
func followed(chain *admission.Chain) []meta.GroupResource {
	all := rbac.Resources()
	for _, cache := range chain.Caches() {
		all = append(all, cache.Resource())
	}
	return all
}
