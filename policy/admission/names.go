package admission

import "slices"

// A pluginName is a value of --enable-admission-plugins and --disable-admission-plugins.
type pluginName struct {
	name      string
	byDefault bool // enabled by default
}

// inherentPlugins lists plugins whose checks the store always makes: it creates nothing in missing
// or terminating namespaces, and keeps system namespaces.
var inherentPlugins = []string{"NamespaceLifecycle", "NamespaceExists"}

// pluginOrder lists all plugins that operators can name, in execution order. Some have no effect
// and no Registration: see Ineffective.
var pluginOrder = []pluginName{
	{"AlwaysAdmit", false},
	{"NamespaceAutoProvision", false},
	{"NamespaceLifecycle", true},
	{"NamespaceExists", false},
	{"LimitPodHardAntiAffinityTopology", false},
	{"LimitRanger", true},
	{"ServiceAccount", true},
	{"NodeRestriction", false},
	{"TaintNodesByCondition", true},
	{"AlwaysPullImages", false},
	{"ImagePolicyWebhook", false},
	{"SecurityContextDeny", false},
	{"PodSecurity", true},
	{"PodNodeSelector", false},
	{"Priority", true},
	{"DefaultTolerationSeconds", true},
	{"PodTolerationRestriction", false},
	{"EventRateLimit", false},
	{"ExtendedResourceToleration", false},
	{"DefaultStorageClass", true},
	{"StorageObjectInUseProtection", true},
	{"OwnerReferencesPermissionEnforcement", false},
	{"PersistentVolumeClaimResize", true},
	{"RuntimeClass", true},
	{"CertificateApproval", true},
	{"CertificateSigning", true},
	{"ClusterTrustBundleAttest", true},
	{"CertificateSubjectRestriction", true},
	{"DefaultIngressClass", true},
	{"DenyServiceExternalIPs", false},
	{"PodTopologyLabels", true},
	{"NodeDeclaredFeatureValidator", true},
	{"MutatingAdmissionPolicy", true},
	{"MutatingAdmissionWebhook", true},
	{"ValidatingAdmissionPolicy", true},
	{"ValidatingAdmissionWebhook", true},
	{"ResourceQuota", true},
	{"AlwaysDeny", false},
}

// Names returns all plugin names, sorted.
func Names() []string { return namesOf(func(pluginName) bool { return true }) }

// Defaults returns the plugins that are enabled by default, sorted.
func Defaults() []string { return namesOf(func(p pluginName) bool { return p.byDefault }) }

func namesOf(which func(pluginName) bool) (names []string) {
	for _, p := range pluginOrder {
		if which(p) {
			names = append(names, p.name)
		}
	}
	slices.Sort(names)
	return names
}

// position returns the execution order of a plugin; -1, the first, for one without a name.
func position(name string) int {
	return slices.IndexFunc(pluginOrder, func(p pluginName) bool { return p.name == name })
}

// PluginConfig enables plugins by name.
type PluginConfig struct {
	// Enabled plugins run in addition to the default ones; Disabled ones do not.
	Enabled, Disabled []string
	// Only, if not empty, lists all plugins that run.
	Only []string
}

// Runs reports whether a plugin runs. One without a name always does.
func (c PluginConfig) Runs(name string) bool {
	if name != "" && len(c.Only) > 0 {
		return slices.Contains(c.Only, name)
	}
	if name == "" || slices.Contains(c.Enabled, name) && !slices.Contains(c.Disabled, name) {
		return true
	}
	i := position(name)
	return i >= 0 && pluginOrder[i].byDefault && !slices.Contains(c.Disabled, name)
}

// AlwaysEffective returns the disabled plugins whose checks are always made.
func (c PluginConfig) AlwaysEffective() []string {
	return slices.DeleteFunc(slices.Clone(c.Disabled), func(name string) bool { return !slices.Contains(inherentPlugins, name) })
}

// Ineffective returns the named plugins without a Registration, except inherent ones.
func (c PluginConfig) Ineffective(all []Registration) []string {
	var names []string
	for _, name := range slices.Concat(c.Enabled, c.Disabled, c.Only) {
		if !slices.Contains(inherentPlugins, name) && !slices.ContainsFunc(all, func(r Registration) bool { return r.Name == name }) {
			names = append(names, name)
		}
	}
	return names
}
