package daemon

import (
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/admission"
	"github.com/troupe-api/troupe/policy/admission/config"
	"github.com/troupe-api/troupe/policy/authz/rbac"
)

// newAdmissionChain makes the chain of all admission plugins, and of more. It returns when what they read
// of the cluster is known. A plugin that decided on half of what it reads would let pass what it should
// refuse; so requests are served only after that.
func (p *policies) newAdmissionChain(more ...admission.Registration) (*admission.Chain, error) {
	configuration, err := config.Load(p.config.Admission.ConfigFile, p.naming)
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
		p.log.Warn("the configuration of an admission plugin has no effect here", "plugin", name)
	}
	chain := admission.New(p.naming, switches, all)
	for _, cache := range chain.Caches() {
		if err := cache.Follow(p.ctx, p.storage.objects); err != nil {
			return nil, err
		}
	}
	return chain, nil
}

// webhookConfigurations are what the plugins that ask webhooks go by, as resources of admissionregistration.
var webhookConfigurations = map[string]string{
	"MutatingAdmissionWebhook": "mutatingwebhookconfigurations", "ValidatingAdmissionWebhook": "validatingwebhookconfigurations",
}

// warnOfSwitches logs which switches do not what one may expect of them. These are warnings and not errors,
// since configurations of other servers of this API name plugins that have nothing to do here.
func (p *policies) warnOfSwitches(switches admission.PluginConfig, all []admission.Registration) {
	for _, name := range switches.AlwaysEffective() {
		p.log.Warn("an admission plugin cannot be disabled: objects are never stored without what it checks", "plugin", name)
	}
	for _, name := range switches.Ineffective(all) {
		p.log.Warn("an admission plugin that is enabled or disabled has no effect here", "plugin", name)
	}
	for plugin, resource := range webhookConfigurations {
		if !switches.Runs(plugin) && p.storage.kinds.Kind(p.naming.Group("admissionregistration"), "v1", resource) != nil {
			p.log.Warn("an admission plugin is disabled, but its configurations are served; switch them off with --runtime-config", "plugin", plugin, "resource", resource)
		}
	}
}

// followed are the resources by which policy decides, in platform form: an answer to a write of them waits
// until it is in effect. So a role that was granted, or a webhook that was registered, holds for the next
// request of the same client.
func followed(chain *admission.Chain) []meta.GroupResource {
	all := rbac.Resources()
	for _, cache := range chain.Caches() {
		all = append(all, cache.Resource())
	}
	return all
}
