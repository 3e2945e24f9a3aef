package daemon

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/troupe-api/troupe/cmd/troupe/internal/features"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/policy/admission"
	"github.com/troupe-api/troupe/policy/admission/config"
	"github.com/troupe-api/troupe/policy/admission/match"
	"github.com/troupe-api/troupe/policy/admission/plugins"
	"github.com/troupe-api/troupe/policy/admission/podsecurity"
	"github.com/troupe-api/troupe/policy/admission/quota"
	"github.com/troupe-api/troupe/policy/authz/node"
	"github.com/troupe-api/troupe/policy/remote"
)

// registrations returns all configured admission plugins, in no particular order. The chain skips
// disabled ones.
func (p *policies) registrations(configuration config.Config) ([]admission.Registration, error) {
	var all []admission.Registration
	namespaces := match.NewNamespaces()
	for _, configured := range []func(config.Config) ([]admission.Registration, error){
		p.podPlugins, p.imagePolicyPlugin, p.eventRateLimitPlugin,
		func(c config.Config) ([]admission.Registration, error) { return p.webhookPlugins(namespaces, c) },
	} {
		some, err := configured(configuration)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	p.podSecurity = podsecurity.New(podsecurity.NewConfiguration(configuration["PodSecurity"]), p.naming, p.storage.objects)
	// The ledger tracks usage even if the plugin is disabled.
	quotas := p.storage.quotas.Registrations(p.storage.quotas.Follower(p.storage.objects), quota.NewConfig(configuration["ResourceQuota"]))
	naming, authorizer, storageClasses := p.naming, p.authorizer, plugins.NewStorageClasses(p.naming)
	if p.features.Enabled(features.GranularClaimStatus) {
		all = append(all, plugins.ClaimStatus(authorizer, naming))
	}
	return append(slices.Concat(all, quotas, p.podSecurity.Registrations(), p.policyPlugins(namespaces), node.Restriction(naming, p.storage.objects, authorizer, p.features.Enabled(features.CSIVolumeHealth))),
		plugins.AdminAccess(naming, p.storage.objects),
		plugins.CertificateRequester(),
		plugins.CertificateSubjectRestriction(naming),
		plugins.CertificateApproval(authorizer, naming),
		plugins.CertificateSigning(authorizer, naming),
		plugins.ClusterTrustBundleAttest(authorizer, naming),
		plugins.PodCertificateSigning(authorizer, naming),
		plugins.DefaultIngressClass(naming, plugins.NewIngressClasses(naming)),
		plugins.DefaultStorageClass(naming, storageClasses),
		plugins.PersistentVolumeClaimResize(naming, storageClasses),
		plugins.StorageObjectInUseProtection(naming),
		plugins.TaintNodesByCondition(naming),
		plugins.DenyServiceExternalIPs(),
		plugins.NamespaceLifecycle(p.storage.objects),
		plugins.NamespaceAutoProvision(p.storage.objects, p),
		plugins.OwnerReferencesPermissionEnforcement(authorizer, p.servedKind),
		plugins.AlwaysDeny(),
	), nil
}

// podPlugins returns the plugins for Pods. PodNodeSelector and PodTolerationRestriction share the
// parsed namespace annotations.
func (p *policies) podPlugins(configuration config.Config) ([]admission.Registration, error) {
	selectors, err := plugins.ParsePodNodeSelectorConfig(configuration["PodNodeSelector"])
	if err != nil {
		return nil, misconfigured("PodNodeSelector", err)
	}
	c, naming := p.config.Admission, p.naming
	placements := plugins.NewNamespacePlacements(naming, p.storage.objects)
	registrations := []admission.Registration{
		plugins.AlwaysPullImages(),
		plugins.DefaultTolerationSeconds(naming, c.DefaultNotReadyTolerationSeconds, c.DefaultUnreachableTolerationSeconds),
		plugins.ExtendedResourceToleration(naming),
		plugins.LimitPodHardAntiAffinityTopology(naming),
		plugins.LimitRanger(naming),
		plugins.NodeDeclaredFeatureValidator(p.storage.objects),
		plugins.PodNodeSelector(selectors, placements),
		plugins.PodResizeValidator(naming, p.storage.objects),
		plugins.PodTolerationRestriction(naming, configuration["PodTolerationRestriction"], placements),
		plugins.Priority(),
		plugins.RuntimeClass(p.storage.objects),
		plugins.SecurityContextDeny(),
		plugins.SystemPriorityClasses(),
	}
	registrations = append(registrations, plugins.ServiceAccount(naming, p.storage.objects, p.features.Enabled(features.RootCAConfigMap))...)
	if p.features.Enabled(features.PodTopologyLabelsAdmission) {
		registrations = append(registrations, plugins.PodTopologyLabels(naming, p.storage.objects))
	}
	return registrations, nil
}

func misconfigured(plugin string, err error) error {
	return fmt.Errorf("admission configuration of %s: %w", plugin, err)
}

// imagePolicyPlugin returns the ImagePolicyWebhook plugin, or nil if it is disabled. If enabled, it
// requires a configuration.
func (p *policies) imagePolicyPlugin(configuration config.Config) ([]admission.Registration, error) {
	const name = "ImagePolicyWebhook"
	if !p.config.Admission.switches().Runs(name) {
		return nil, nil
	}
	c := configuration[name].Object("imagePolicy")
	if c == nil {
		return nil, misconfigured(name, errors.New("imagePolicy: Required value"))
	}
	backend, err := remote.Load(c.String("kubeConfigFile"))
	if err != nil {
		return nil, misconfigured(name, err)
	}
	context.AfterFunc(p.ctx, backend.Close)
	return []admission.Registration{plugins.ImagePolicyWebhook(c, backend, p.naming, time.Now, p.log)}, nil
}

// eventRateLimitPlugin returns the EventRateLimit plugin. If enabled, it requires a configuration,
// because there are no default limits.
func (p *policies) eventRateLimitPlugin(configuration config.Config) ([]admission.Registration, error) {
	const name = "EventRateLimit"
	if configuration[name] == nil && p.config.Admission.switches().Runs(name) {
		return nil, misconfigured(name, errors.New("limits: must not be empty"))
	}
	return []admission.Registration{plugins.EventRateLimit(configuration[name], time.Now)}, nil
}

func (p *policies) servedKind(gvk meta.GroupVersionKind) *schema.Kind {
	k := p.storage.kinds.ByGVK(gvk)
	if k == nil || p.storage.kinds.Kind(k.Group, k.Version, k.Resource) == nil {
		return nil
	}
	return k
}
