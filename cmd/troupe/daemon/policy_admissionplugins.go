package daemon

import (
	"context"
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
	"github.com/troupe-api/troupe/policy/authz"
	"github.com/troupe-api/troupe/policy/authz/node"
	"github.com/troupe-api/troupe/policy/remote"
)

// registrations are all admission plugins, as they are configured. Plugins that are switched off are among
// them: the chain leaves them out. Their order here does not matter.
func (d *Daemon) registrations(authorizer authz.Authorizer, configuration *config.Config) ([]admission.Registration, error) {
	pods, err := d.podPlugins(configuration)
	if err != nil {
		return nil, err
	}
	quotas, err := d.quotaPlugin(configuration)
	if err != nil {
		return nil, err
	}
	security, err := d.podSecurityPlugin(configuration)
	if err != nil {
		return nil, err
	}
	namespaces := match.NewNamespaces()
	webhooks, err := d.webhookPlugins(authorizer, namespaces, configuration)
	if err != nil {
		return nil, err
	}
	limits, err := d.eventLimits(configuration)
	if err != nil {
		return nil, err
	}
	images, err := d.imagePolicyPlugin(configuration)
	if err != nil {
		return nil, err
	}
	naming, storageClasses := d.naming, plugins.NewStorageClasses(d.naming)
	return append(slices.Concat(pods, quotas, security, d.policyPlugins(authorizer, namespaces), webhooks, images),
		node.Restriction(naming, d.objects, authorizer),
		plugins.AdminAccess(naming, d.objects),
		plugins.CertificateRequester(),
		plugins.CertificateSubjectRestriction(naming),
		plugins.CertificateApproval(authorizer, naming),
		plugins.CertificateSigning(authorizer, naming),
		plugins.ClusterTrustBundleAttest(authorizer, naming),
		plugins.DefaultIngressClass(naming, plugins.NewIngressClasses(naming)),
		plugins.DefaultStorageClass(naming, storageClasses),
		plugins.PersistentVolumeClaimResize(naming, storageClasses),
		plugins.StorageObjectInUseProtection(naming),
		plugins.TaintNodesByCondition(naming),
		plugins.DenyServiceExternalIPs(),
		plugins.NamespaceLifecycle(d.objects),
		plugins.NamespaceAutoProvision(d.objects, namespaceCreator{d}),
		plugins.OwnerReferencesPermissionEnforcement(authorizer, d.servedKind),
		plugins.EventRateLimit(limits, time.Now),
		plugins.AlwaysDeny(),
	), nil
}

// podPlugins are the plugins that are about Pods, and what Pods take of others. The two plugins that read
// annotations of namespaces share what they parse.
func (d *Daemon) podPlugins(configuration *config.Config) ([]admission.Registration, error) {
	selectors, err := plugins.ParsePodNodeSelectorConfig(configuration.For("PodNodeSelector"))
	if err != nil {
		return nil, misconfigured("PodNodeSelector", err)
	}
	tolerations, err := plugins.ParsePodTolerationRestrictionConfig(configuration.For("PodTolerationRestriction"))
	if err != nil {
		return nil, misconfigured("PodTolerationRestriction", err)
	}
	c, naming := d.config.Admission, d.naming
	placements := plugins.NewNamespacePlacements(naming, d.objects)
	registrations := []admission.Registration{
		plugins.AlwaysPullImages(),
		plugins.DefaultTolerationSeconds(naming, c.DefaultNotReadyTolerationSeconds, c.DefaultUnreachableTolerationSeconds),
		plugins.ExtendedResourceToleration(naming),
		plugins.LimitPodHardAntiAffinityTopology(naming),
		plugins.LimitRanger(naming),
		plugins.PodNodeSelector(selectors, placements),
		plugins.PodTolerationRestriction(naming, tolerations, placements),
		plugins.Priority(),
		plugins.RuntimeClass(d.objects),
		plugins.SecurityContextDeny(),
		plugins.SystemPriorityClasses(),
	}
	registrations = append(registrations, plugins.ServiceAccount(naming, d.objects, d.features.Enabled(features.RootCAConfigMap))...)
	if d.features.Enabled(features.PodTopologyLabelsAdmission) {
		registrations = append(registrations, plugins.PodTopologyLabels(naming, d.objects))
	}
	return registrations, nil
}

// misconfigured says which plugin an error of the configuration file is about.
func misconfigured(plugin string, err error) error {
	return fmt.Errorf("admission configuration of %s: %w", plugin, err)
}

// The ledger was made with the store, whose changes it observes whether or not the plugin runs.
func (d *Daemon) quotaPlugin(configuration *config.Config) ([]admission.Registration, error) {
	c, err := quota.ParseConfig(configuration.For("ResourceQuota"))
	if err != nil {
		return nil, misconfigured("ResourceQuota", err)
	}
	return d.quotas.Registrations(d.quotas.Follower(d.objects), c), nil
}

// Without configuration everything is allowed where labels of a namespace do not say otherwise.
func (d *Daemon) podSecurityPlugin(configuration *config.Config) ([]admission.Registration, error) {
	var c podsecurity.Configuration
	if t := configuration.For("PodSecurity"); t != nil {
		var err error
		if c, err = podsecurity.ReadConfiguration(t, d.naming); err != nil {
			return nil, misconfigured("PodSecurity", err)
		}
	}
	d.podSecurity = podsecurity.New(c, d.naming, d.objects)
	return d.podSecurity.Registrations(), nil
}

// imagePolicyPlugin asks the backend of image policies; nothing if that plugin does not run. There is no backend without
// its configuration, which is required, but only of those who want it.
func (d *Daemon) imagePolicyPlugin(configuration *config.Config) ([]admission.Registration, error) {
	const name = "ImagePolicyWebhook"
	if !d.config.Admission.switches().Runs(name) {
		return nil, nil
	}
	c, err := plugins.ParseImagePolicyConfig(configuration.For(name))
	if err != nil {
		return nil, misconfigured(name, err)
	}
	backend, err := remote.Load(c.KubeConfigFile)
	if err != nil {
		return nil, misconfigured(name, err)
	}
	context.AfterFunc(d.background.ctx, backend.Close)
	return []admission.Registration{plugins.ImagePolicyWebhook(c, backend, d.naming, time.Now, d.log)}, nil
}

// eventLimits is the configuration of EventRateLimit; nothing if that does not run. It has no defaults, so
// its configuration is required, but only of those who want it.
func (d *Daemon) eventLimits(configuration *config.Config) ([]plugins.EventLimit, error) {
	const name = "EventRateLimit"
	if !d.config.Admission.switches().Runs(name) {
		return nil, nil
	}
	limits, err := plugins.ParseEventLimits(configuration.For(name), d.naming)
	if err != nil {
		return nil, misconfigured(name, err)
	}
	return limits, nil
}

// servedKind finds a kind that has a path; nil if there is none. A kind may be known and switched off by
// --runtime-config; then it counts as absent.
func (d *Daemon) servedKind(gvk meta.GroupVersionKind) *schema.Kind {
	k := d.kinds.ByGVK(gvk)
	if k == nil || d.kinds.Kind(k.Group, k.Version, k.Resource) == nil {
		return nil
	}
	return k
}
