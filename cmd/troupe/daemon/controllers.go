package daemon

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/troupe-api/troupe/actors/controllers"
	"github.com/troupe-api/troupe/actors/controllers/certificates"
	"github.com/troupe-api/troupe/actors/controllers/flowcontrol"
	"github.com/troupe-api/troupe/cmd/troupe/internal/features"
	"github.com/troupe-api/troupe/kinds/meta"
)

// A builtIn is a controller that is part of the daemon, under the name that operators know. The names are
// those of the API server's companions that clients know, which run as processes of their own there.
type builtIn struct {
	name    string
	alias   string // another name, that operators know from before
	group   string // a name for several of them; "" for none
	enabled enabled
	gate    string // the feature without which it does nothing; "": none
	runsOn  runsOn
	twin    twin

	// One of them makes it: for the API server itself, or for the cluster.
	ofServer  func(*serverControllers, *controllers.Env) controller
	ofCluster func(*clusterControllers) controller
}

// enabled says under which naming profiles --controllers=* includes a controller.
type enabled int

const (
	onEveryProfile enabled = iota
	onPlatform             // clients of other profiles do not expect it
	exceptPlatform
	onlyNamed // none: the controller runs if it, or its group, is named
)

// includes reports whether * includes the controller under a naming profile.
func (e enabled) includes(n *meta.Naming) bool {
	return e == onEveryProfile || e == onPlatform && n == meta.Platform || e == exceptPlatform && n != meta.Platform
}

// runsOn says which of several daemons on one state run a controller.
type runsOn int

const (
	leader runsOn = iota
	everyDaemon
)

// twin says what a controller does while kube-controller-manager runs the same one.
type twin int

const (
	stops  twin = iota // it is stopped, and made anew afterwards
	pauses             // it pauses by itself, and keeps its state
	noTwin             // kube-controller-manager has no such controller
)

// A controller works until the context ends.
type controller interface{ Run(ctx context.Context) }

// plain returns the ofCluster of a controller that needs only the store.
func plain[C controller](create func(*controllers.Env) C) func(*clusterControllers) controller {
	return func(c *clusterControllers) controller { return create(c.env) }
}

// apiServerAlias names at once all controllers that run in the API server that clients know, and not in a companion of it.
const apiServerAlias = "apiserver"

// TestControllers are those of a server to test programs against: what a bare API server does itself, and what makes
// namespaces empty and collects garbage, also where admission has protected something. No other object appears or changes by itself.
const TestControllers Controllers = apiServerAlias +
	",garbage-collector-controller,namespace-controller,persistentvolume-protection-controller,persistentvolumeclaim-protection-controller"

// builtIns are all controllers that can be switched off, in the order of their names. Controllers that
// nothing can work without, as that of definitions, are not among them.
var builtIns = slices.Concat(basicControllers, networkControllers, volumeControllers, workloadControllers)

// basicControllers are those of objects that every cluster has.
var basicControllers = []builtIn{
	{name: "apiservice-availability-controller", group: apiServerAlias, ofServer: func(c *serverControllers, env *controllers.Env) controller {
		return controllers.NewAPIServiceAvailability(env, c.aggregator, c.apiServiceMetrics)
	}},
	{name: "apiservice-registration-controller", group: apiServerAlias, ofServer: func(c *serverControllers, env *controllers.Env) controller {
		return controllers.NewAPIServiceRegistration(env)
	}},
	{name: "bootstrap-signer-controller", alias: "bootstrapsigner", enabled: onlyNamed, ofCluster: plain(controllers.NewBootstrapSigner)},
	{name: "certificatesigningrequest-approving-controller", alias: "csrapproving", ofCluster: func(c *clusterControllers) controller {
		return certificates.NewApprover(c.env, c.policy.authorizer)
	}},
	{name: "certificatesigningrequest-cleaner-controller", alias: "csrcleaner", ofCluster: plain(certificates.NewCleaner)},
	{name: "certificatesigningrequest-signing-controller", alias: "csrsigning", ofCluster: func(c *clusterControllers) controller {
		return certificates.NewSigner(c.env, c.identity.signers, time.Duration(c.config.CertificateSigning.Duration))
	}},
	{name: "cluster-authentication-trust-controller", group: apiServerAlias, ofServer: func(c *serverControllers, env *controllers.Env) controller {
		return controllers.NewExtensionAuthentication(env, c.aggregator.trust)
	}},
	{name: "clusterrole-aggregation-controller", alias: "clusterrole-aggregation", ofCluster: plain(controllers.NewClusterRoleAggregation)},
	{name: "garbage-collector-controller", alias: "garbagecollector", ofCluster: plain(controllers.NewGarbageCollector)},
	{name: "kube-apiserver-serving-clustertrustbundle-publisher-controller", ofCluster: func(c *clusterControllers) controller {
		p := certificates.NewTrustBundlePublisher(c.env, c.identity.trustBundle)
		c.onTrustChange(&c.publishTrustBundle, p.Publish)
		return p
	}},
	// The specification wants a token for every account, used or not.
	{name: "legacy-serviceaccount-token-cleaner-controller", alias: "legacy-service-account-token-cleaner", enabled: exceptPlatform, ofCluster: func(c *clusterControllers) controller {
		return controllers.NewLegacyTokenCleaner(c.env, time.Duration(c.config.ServiceAccounts.LegacyTokenCleanUpPeriod))
	}},
	{name: "namespace-controller", alias: "namespace", ofCluster: func(c *clusterControllers) controller {
		return controllers.NewNamespaces(c.env, c.aggregator, time.Duration(c.config.Namespaces.DeletionGracePeriod))
	}},
	{name: "persistentvolume-protection-controller", alias: "pv-protection", ofCluster: plain(controllers.NewVolumeProtection)},
	{name: "persistentvolumeclaim-protection-controller", alias: "pvc-protection", ofCluster: plain(controllers.NewVolumeClaimProtection)},
	{name: "priority-and-fairness-config-producer", group: apiServerAlias, runsOn: everyDaemon, ofServer: func(c *serverControllers, env *controllers.Env) controller {
		return flowcontrol.NewConfiguration(env)
	}},
	// Its twin only recounts from time to time: it relies on the API server to write what a request has used.
	{name: "resourcequota-controller", alias: "resourcequota", ofServer: func(c *serverControllers, env *controllers.Env) controller {
		return controllers.NewResourceQuotas(env, c.storage.quotas)
	}},
	{name: "root-ca-certificate-publisher-controller", alias: "root-ca-cert-publisher", gate: features.RootCAConfigMap, ofCluster: func(c *clusterControllers) controller {
		p := certificates.NewRootCAPublisher(c.env, c.identity.trustBundle)
		c.onTrustChange(&c.publishRootCA, p.Publish)
		return p
	}},
	{name: "serviceaccount-controller", alias: "serviceaccount", ofCluster: plain(controllers.NewServiceAccounts)},
	{name: "serviceaccount-token-controller", alias: "serviceaccount-token", ofCluster: func(c *clusterControllers) controller {
		return controllers.NewTokens(c.env, c.identity.tokens.secretIssuer, c.identity.trustBundle)
	}},
	{name: "serviceaccount-token-secret-controller", twin: noTwin, enabled: onPlatform, ofCluster: plain(controllers.NewTokenSecrets)},
	{name: "storage-version-migrator-controller", alias: "svm", gate: features.StorageVersionMigrator, ofCluster: plain(controllers.NewStorageVersionMigrator)},
	{name: "token-cleaner-controller", alias: "tokencleaner", enabled: onlyNamed, ofCluster: plain(controllers.NewTokenCleaner)},
	{name: "validatingadmissionpolicy-status-controller", alias: "validatingadmissionpolicy-status", ofCluster: plain(controllers.NewPolicyStatus)},
	{name: "volumeattributesclass-protection-controller", ofCluster: plain(controllers.NewAttributesClassProtection)},
}

// Controllers says which controllers run: names with commas, * for all that run by themselves,
// -name for all but that one.
// A plain text keeps the form of the flag and of the file the same.
type Controllers string

// runs tells whether a controller is to run under the names of a profile. What is named counts more than a group, and
// that more than *.
func (c Controllers) runs(b builtIn, n *meta.Naming) bool {
	names := c.names()
	for _, name := range []string{b.name, b.group} {
		switch {
		case name != "" && slices.Contains(names, name):
			return true
		case name != "" && slices.Contains(names, "-"+name):
			return false
		}
	}
	return b.enabled.includes(n) && slices.Contains(names, "*")
}

// enables reports whether the settings let a controller run.
func (s *settings) enables(b builtIn) bool {
	return s.config.Controllers.runs(b, s.naming) && (b.gate == "" || s.features.Enabled(b.gate))
}

// With is c with further names, or -names, which win over what c says of the same ones.
func (c Controllers) With(names ...string) Controllers {
	all := slices.DeleteFunc(c.names(), func(name string) bool { return name == "" })
	for _, name := range Controllers(strings.Join(names, ",")).names() {
		bare := strings.TrimPrefix(name, "-")
		all = slices.DeleteFunc(all, func(n string) bool { return strings.TrimPrefix(n, "-") == bare })
		all = append(all, name)
	}
	return Controllers(strings.Join(all, ","))
}

// Runs tells whether the controller of that name, not of an alias, runs under a naming profile. There must be both.
func (c Controllers) Runs(name, profile string) bool {
	naming, err := meta.ParseNaming(profile)
	i := slices.IndexFunc(builtIns, func(b builtIn) bool { return b.name == name })
	return err == nil && i >= 0 && c.runs(builtIns[i], naming)
}

// names are what c says, without aliases.
// An alias with - in front stands for the name with - in front.
func (c Controllers) names() []string {
	var names []string
	for name := range strings.SplitSeq(string(c), ",") {
		name = strings.TrimSpace(name)
		for _, b := range builtIns {
			if b.alias != "" && strings.TrimPrefix(name, "-") == b.alias {
				name = strings.TrimSuffix(name, b.alias) + b.name
			}
		}
		names = append(names, name)
	}
	return names
}

// "-*" would switch off all and then nothing, and is most likely a mistake.
func (c Controllers) validate(f *faults) {
	known := append([]string{"*", apiServerAlias, workloadsAlias}, controllerNames()...)
	for _, name := range c.names() {
		ok := slices.Contains(known, strings.TrimPrefix(name, "-")) && name != "-*"
		f.check(ok, "controllers", fmt.Sprintf("%q is none of %s", name, strings.Join(known, ", ")))
	}
}

// controllerNames are the names of all built-in controllers, without aliases, as help and errors list them.
func controllerNames() []string {
	var names []string
	for _, b := range builtIns {
		names = append(names, b.name)
	}
	return names
}
