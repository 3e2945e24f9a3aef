package admission

import "slices"

// A pluginName is one that --enable-admission-plugins and --disable-admission-plugins take.
type pluginName struct {
	name      string
	byDefault bool // it runs unless it is switched off
}

// inherentPlugins are those whose checks are part of how objects are stored: nothing is created in a namespace that
// is missing or being deleted, and the namespaces of the system are not deleted.
var inherentPlugins = []string{"NamespaceLifecycle", "NamespaceExists"}

// pluginOrder are all plugins that operators can name, in the order in which they run. Some have no effect
// here, and no Registration: see Ineffective.
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

// Names are the plugins that can be switched, in alphabetical order.
func Names() []string { return namesOf(func(pluginName) bool { return true }) }

// Defaults are the plugins that run unless they are switched off, in alphabetical order.
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

// position is where a plugin runs; -1 for one without a name, which runs before all others.
func position(name string) int {
	return slices.IndexFunc(pluginOrder, func(p pluginName) bool { return p.name == name })
}

// PluginConfig says which plugins run, by name.
type PluginConfig struct {
	// Enabled run beside those that run by default; Disabled do not run.
	Enabled, Disabled []string
	// Only, if there are any, are all that run.
	Only []string
}

// Runs tells whether a plugin runs. One without a name always does.
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

// AlwaysEffective are the plugins that the switches disable although what they check is always checked.
func (c PluginConfig) AlwaysEffective() []string {
	return slices.DeleteFunc(slices.Clone(c.Disabled), func(name string) bool { return !slices.Contains(inherentPlugins, name) })
}

// Ineffective are the plugins that the switches name although nothing follows from it, because
// there is no registration of that name.
func (c PluginConfig) Ineffective(all []Registration) []string {
	var names []string
	for _, name := range slices.Concat(c.Enabled, c.Disabled, c.Only) {
		if !slices.Contains(inherentPlugins, name) && !slices.ContainsFunc(all, func(r Registration) bool { return r.Name == name }) {
			names = append(names, name)
		}
	}
	return names
}
