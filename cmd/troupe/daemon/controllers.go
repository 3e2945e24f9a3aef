package daemon

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/troupe-api/troupe/actors/controllers"
	"github.com/troupe-api/troupe/actors/controllers/apiserver"
	"github.com/troupe-api/troupe/actors/controllers/apiservices"
	"github.com/troupe-api/troupe/actors/controllers/certificates"
	"github.com/troupe-api/troupe/actors/controllers/flowcontrol"
	"github.com/troupe-api/troupe/actors/controllers/garbagecollector"
	"github.com/troupe-api/troupe/actors/controllers/namespaces"
	policycontrollers "github.com/troupe-api/troupe/actors/controllers/policies"
	"github.com/troupe-api/troupe/actors/controllers/tokens"
	"github.com/troupe-api/troupe/actors/controllers/volumes"
	"github.com/troupe-api/troupe/cmd/troupe/internal/features"
	"github.com/troupe-api/troupe/kinds/meta"
)

// A builtIn is one of the daemon's own controllers. Its name is that of its counterpart in
// kube-controller-manager or kube-apiserver, if any.
type builtIn struct {
	name    string
	alias   string // the former name in kube-controller-manager
	group   string // a name for several controllers; "" for none
	enabled enabled
	gate    string // the feature gate that the controller needs; "" for none
	runsOn  runsOn
	twin    twin

	// Exactly one constructor is set.
	ofServer  func(*serverControllers, *controllers.Env) controller
	ofCluster func(*clusterControllers) controller
}

// enabled selects the naming profiles under which --controllers=* includes a controller.
type enabled int

const (
	onEveryProfile enabled = iota
	onPlatform             // other profiles' clients do not expect it
	exceptPlatform
	onlyNamed // not included in *: the controller runs if it or its group is named
)

func (e enabled) includes(n *meta.Naming) bool {
	return e == onEveryProfile || e == onPlatform && n == meta.Platform || e == exceptPlatform && n != meta.Platform
}

// runsOn selects which of several daemons with shared storage run a controller.
type runsOn int

const (
	leader runsOn = iota
	everyDaemon
)

// twin selects how a controller behaves while another process, usually kube-controller-manager,
// runs its counterpart.
type twin int

const (
	stops  twin = iota // it is stopped, and recreated afterwards
	pauses             // it pauses by itself and keeps its state
	noTwin             // kube-controller-manager has no such controller

	stopsForScheduler // like stops, for kube-scheduler
)

type controller interface{ Run(ctx context.Context) }

func plain[C controller](create func(*controllers.Env) C) func(*clusterControllers) controller {
	return func(c *clusterControllers) controller { return create(c.env) }
}

// apiServerAlias selects all controllers that kube-apiserver runs.
const apiServerAlias = "apiserver"

// TestControllers selects controllers for tests against an API server: those of kube-apiserver,
// namespace deletion, and garbage collection including protected volumes. No others run, so that
// only the tests create or change other objects.
const TestControllers Controllers = apiServerAlias +
	",garbage-collector-controller,namespace-controller,persistentvolume-protection-controller,persistentvolumeclaim-protection-controller"

// builtIns lists all controllers that can be disabled, which excludes essential ones such as the
// CRD controller.
var builtIns = slices.Concat(basicControllers, networkControllers, volumeControllers, workloadControllers)

// basicControllers manage objects that exist in every cluster.
var basicControllers = []builtIn{
	{name: "apiservice-availability-controller", group: apiServerAlias, ofServer: func(c *serverControllers, env *controllers.Env) controller {
		return apiservices.NewAvailability(env, c.aggregator, c.apiServiceMetrics)
	}},
	{name: "apiservice-registration-controller", group: apiServerAlias, ofServer: func(c *serverControllers, env *controllers.Env) controller {
		return apiservices.NewRegistration(env)
	}},
	{name: "bootstrap-signer-controller", alias: "bootstrapsigner", enabled: onlyNamed, ofCluster: plain(tokens.NewBootstrapSigner)},
	{name: "certificatesigningrequest-approving-controller", alias: "csrapproving", ofCluster: func(c *clusterControllers) controller {
		return certificates.NewApprover(c.env, c.policy.authorizer)
	}},
	{name: "certificatesigningrequest-cleaner-controller", alias: "csrcleaner", ofCluster: plain(certificates.NewCleaner)},
	{name: "certificatesigningrequest-signing-controller", alias: "csrsigning", ofCluster: func(c *clusterControllers) controller {
		return certificates.NewSigner(c.env, c.identity.signers, time.Duration(c.config.CertificateSigning.Duration))
	}},
	{name: "cluster-authentication-trust-controller", group: apiServerAlias, ofServer: func(c *serverControllers, env *controllers.Env) controller {
		return apiserver.NewExtensionAuthentication(env, c.aggregator.trust)
	}},
	{name: "clusterrole-aggregation-controller", alias: "clusterrole-aggregation", ofCluster: plain(policycontrollers.NewClusterRoleAggregation)},
	{name: "garbage-collector-controller", alias: "garbagecollector", ofCluster: plain(garbagecollector.New)},
	{name: "kube-apiserver-serving-clustertrustbundle-publisher-controller", ofCluster: func(c *clusterControllers) controller {
		p := certificates.NewTrustBundlePublisher(c.env, c.identity.trustBundle)
		c.onTrustChange(&c.publishTrustBundle, p.Publish)
		return p
	}},
	// The platform profile requires a token for every service account, even if it is unused.
	{name: "legacy-serviceaccount-token-cleaner-controller", alias: "legacy-service-account-token-cleaner", enabled: exceptPlatform, ofCluster: func(c *clusterControllers) controller {
		return tokens.NewLegacyCleaner(c.env, time.Duration(c.config.ServiceAccounts.LegacyTokenCleanUpPeriod))
	}},
	{name: "namespace-controller", alias: "namespace", ofCluster: func(c *clusterControllers) controller {
		return namespaces.New(c.env, c.aggregator, time.Duration(c.config.Namespaces.DeletionGracePeriod))
	}},
	{name: "persistentvolume-protection-controller", alias: "pv-protection", ofCluster: plain(volumes.NewVolumeProtection)},
	{name: "persistentvolumeclaim-protection-controller", alias: "pvc-protection", ofCluster: func(c *clusterControllers) controller {
		return volumes.NewClaimProtection(c.env, c.features.Enabled(features.ClaimUnusedSinceTime))
	}},
	{name: "podcertificaterequest-cleaner-controller", gate: features.PodCertificateRequest, ofCluster: plain(certificates.NewPodRequestCleaner)},
	{name: "priority-and-fairness-config-producer", group: apiServerAlias, runsOn: everyDaemon, ofServer: func(c *serverControllers, env *controllers.Env) controller {
		return flowcontrol.NewConfiguration(env)
	}},
	// This controller accounts for quota usage as part of the server. Its counterpart in
	// kube-controller-manager only recalculates usage periodically and relies on the API server to
	// account for each request.
	{name: "resourcequota-controller", alias: "resourcequota", ofServer: func(c *serverControllers, env *controllers.Env) controller {
		return policycontrollers.NewResourceQuotas(env, c.storage.quotas)
	}},
	{name: "root-ca-certificate-publisher-controller", alias: "root-ca-cert-publisher", gate: features.RootCAConfigMap, ofCluster: func(c *clusterControllers) controller {
		p := certificates.NewRootCAPublisher(c.env, c.identity.trustBundle)
		c.onTrustChange(&c.publishRootCA, p.Publish)
		return p
	}},
	{name: "serviceaccount-controller", alias: "serviceaccount", ofCluster: plain(tokens.NewDefaultAccounts)},
	{name: "serviceaccount-token-controller", alias: "serviceaccount-token", ofCluster: func(c *clusterControllers) controller {
		return tokens.NewSecretFiller(c.env, c.identity.tokens.secretIssuer, c.identity.trustBundle)
	}},
	{name: "serviceaccount-token-secret-controller", twin: noTwin, enabled: onPlatform, ofCluster: plain(tokens.NewSecretCreator)},
	{name: "storage-version-migrator-controller", alias: "svm", gate: features.StorageVersionMigrator, ofCluster: plain(apiserver.NewStorageVersionMigrator)},
	{name: "token-cleaner-controller", alias: "tokencleaner", enabled: onlyNamed, ofCluster: plain(tokens.NewBootstrapCleaner)},
	{name: "validatingadmissionpolicy-status-controller", alias: "validatingadmissionpolicy-status", ofCluster: plain(policycontrollers.NewAdmissionPolicyStatus)},
	{name: "volumeattributesclass-protection-controller", ofCluster: plain(volumes.NewAttributesClassProtection)},
}

// Controllers is a comma-separated list of controllers. "*" selects those that are enabled by
// default. A name enables a controller, and -name disables it.
type Controllers string

// runs reports whether the controller is selected. The controller's name takes precedence over its
// group, and the group over "*".
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

func (s *settings) enables(b builtIn) bool {
	return s.controllerNames().runs(b, s.naming) && (b.gate == "" || s.features.Enabled(b.gate))
}

// With returns a copy of c with added names, which override existing entries for the same
// controllers.
func (c Controllers) With(names ...string) Controllers {
	all := slices.DeleteFunc(c.names(), func(name string) bool { return name == "" })
	for _, name := range Controllers(strings.Join(names, ",")).names() {
		bare := strings.TrimPrefix(name, "-")
		all = slices.DeleteFunc(all, func(n string) bool { return strings.TrimPrefix(n, "-") == bare })
		all = append(all, name)
	}
	return Controllers(strings.Join(all, ","))
}

// Runs reports whether the named controller runs under a naming profile. It returns false for an
// alias and for an unknown name or profile.
func (c Controllers) Runs(name, profile string) bool {
	naming, err := meta.ParseNaming(profile)
	i := slices.IndexFunc(builtIns, func(b builtIn) bool { return b.name == name })
	return err == nil && i >= 0 && c.runs(builtIns[i], naming)
}

// names returns the entries of c with aliases replaced. It keeps a leading "-".
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

// validate rejects unknown names, and "-*", which would disable all controllers and is probably a
// mistake.
func (c Controllers) validate(f *faults) {
	known := append([]string{"*", apiServerAlias, workloadsAlias}, controllerNames()...)
	for _, b := range builtIns {
		if b.alias != "" {
			known = append(known, b.alias)
		}
	}
	for _, name := range c.names() {
		ok := slices.Contains(known, strings.TrimPrefix(name, "-")) && name != "-*"
		f.check(ok, "controllers", fmt.Sprintf("%q: must be one of %s", name, strings.Join(known, ", ")))
	}
}

func controllerNames() []string {
	var names []string
	for _, b := range builtIns {
		names = append(names, b.name)
	}
	return names
}
