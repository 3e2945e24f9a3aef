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
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
)

// A builtIn is a controller that is part of the daemon, under the name that operators know. The names are
// those of the API server's companions that clients know, which run as processes of their own there.
type builtIn struct {
	name          string
	alias         string // another name, that operators know from before
	group         string // a name for several of them; "" for none
	enabled       enabled
	own           bool // the API server runs it, for itself: it starts before requests are served, and what it writes is not admitted
	twin          twin
	gate          string // the feature without which it does nothing; "": none
	runsOn        runsOn
	newController func(d *Daemon, store controllers.Store, kinds *catalog.Catalog) controller
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

// apiServerAlias names at once all controllers that run in the API server that clients know, and not in a companion of it.
const apiServerAlias = "apiserver"

// TestControllers are those of a server to test programs against: what a bare API server does itself, and what makes
// namespaces empty and collects garbage, also where admission has protected something. No other object appears or changes by itself.
const TestControllers Controllers = apiServerAlias +
	",garbage-collector-controller,namespace-controller,persistentvolume-protection-controller,persistentvolumeclaim-protection-controller"

// builtIns are all controllers that can be switched off, in the order of their names. Controllers that
// nothing can work without, as that of definitions, are not among them.
var builtIns = slices.Concat(serverControllers, networkControllers, volumeControllers, workloadControllers)

// serverControllers are those of the server's own objects.
var serverControllers = []builtIn{
	{name: "apiservice-availability-controller", group: apiServerAlias, own: true, newController: func(d *Daemon, store controllers.Store, kinds *catalog.Catalog) controller {
		return controllers.NewAPIServiceAvailability(store, kinds, prober{d.servers}, d.apiServiceMetrics, d.log)
	}},
	{name: "apiservice-registration-controller", group: apiServerAlias, own: true, newController: func(d *Daemon, store controllers.Store, kinds *catalog.Catalog) controller {
		return controllers.NewAPIServiceRegistration(store, kinds, d.log)
	}},
	{name: "bootstrap-signer-controller", alias: "bootstrapsigner", enabled: onlyNamed, newController: func(d *Daemon, store controllers.Store, kinds *catalog.Catalog) controller {
		return controllers.NewBootstrapSigner(store, kinds, d.log)
	}},
	{name: "certificatesigningrequest-approving-controller", alias: "csrapproving", newController: func(d *Daemon, store controllers.Store, kinds *catalog.Catalog) controller {
		return certificates.NewApprover(store, kinds, d.authorizer, d.log)
	}},
	{name: "certificatesigningrequest-cleaner-controller", alias: "csrcleaner", newController: func(d *Daemon, store controllers.Store, kinds *catalog.Catalog) controller {
		return certificates.NewCleaner(store, kinds, d.log)
	}},
	{name: "certificatesigningrequest-signing-controller", alias: "csrsigning", newController: func(d *Daemon, store controllers.Store, kinds *catalog.Catalog) controller {
		return certificates.NewSigner(store, kinds, d.signingAuthorities, time.Duration(d.config.CertificateSigning.Duration), d.log)
	}},
	{name: "cluster-authentication-trust-controller", group: apiServerAlias, own: true, newController: func(d *Daemon, store controllers.Store, kinds *catalog.Catalog) controller {
		return controllers.NewExtensionAuthentication(store, kinds, d.extensionTrust, d.log)
	}},
	{name: "clusterrole-aggregation-controller", alias: "clusterrole-aggregation", newController: func(d *Daemon, store controllers.Store, kinds *catalog.Catalog) controller {
		return controllers.NewClusterRoleAggregation(store, kinds, d.log)
	}},
	{name: "garbage-collector-controller", alias: "garbagecollector", newController: func(d *Daemon, store controllers.Store, kinds *catalog.Catalog) controller {
		return controllers.NewGarbageCollector(store, kinds, d.log)
	}},
	{name: "kube-apiserver-serving-clustertrustbundle-publisher-controller", newController: func(d *Daemon, store controllers.Store, kinds *catalog.Catalog) controller {
		p := certificates.NewTrustBundlePublisher(store, kinds, d.identity.trustBundle, d.log)
		d.followTrust("cluster trust bundle", p.Publish)
		return p
	}},
	// The specification wants a token for every account, used or not.
	{name: "legacy-serviceaccount-token-cleaner-controller", alias: "legacy-service-account-token-cleaner", enabled: exceptPlatform, newController: func(d *Daemon, store controllers.Store, kinds *catalog.Catalog) controller {
		return controllers.NewLegacyTokenCleaner(store, kinds, time.Duration(d.config.ServiceAccounts.LegacyTokenCleanUpPeriod), d.log)
	}},
	{name: "namespace-controller", alias: "namespace", newController: func(d *Daemon, store controllers.Store, kinds *catalog.Catalog) controller {
		return controllers.NewNamespaces(store, kinds, extensionServers{d.servers, d.naming}, time.Duration(d.config.Namespaces.DeletionGracePeriod), d.log)
	}},
	{name: "persistentvolume-protection-controller", alias: "pv-protection", newController: func(d *Daemon, store controllers.Store, kinds *catalog.Catalog) controller {
		return controllers.NewVolumeProtection(store, kinds, d.log)
	}},
	{name: "persistentvolumeclaim-protection-controller", alias: "pvc-protection", newController: func(d *Daemon, store controllers.Store, kinds *catalog.Catalog) controller {
		return controllers.NewVolumeClaimProtection(store, kinds, d.log)
	}},
	{name: "priority-and-fairness-config-producer", group: apiServerAlias, own: true, runsOn: everyDaemon, newController: func(d *Daemon, store controllers.Store, kinds *catalog.Catalog) controller {
		return flowcontrol.NewConfiguration(store, kinds, d.log)
	}},
	// Its twin only recounts from time to time: it relies on the API server to write what a request has used.
	{name: "resourcequota-controller", alias: "resourcequota", own: true, newController: func(d *Daemon, store controllers.Store, kinds *catalog.Catalog) controller {
		return controllers.NewResourceQuotas(store, kinds, d.quotas, d.log)
	}},
	{name: "root-ca-certificate-publisher-controller", alias: "root-ca-cert-publisher", gate: features.RootCAConfigMap, newController: func(d *Daemon, store controllers.Store, kinds *catalog.Catalog) controller {
		p := certificates.NewRootCAPublisher(store, kinds, d.identity.trustBundle, d.log)
		d.followTrust("root CA", p.Publish)
		return p
	}},
	{name: "serviceaccount-controller", alias: "serviceaccount", newController: func(d *Daemon, store controllers.Store, kinds *catalog.Catalog) controller {
		return controllers.NewServiceAccounts(store, kinds, d.log)
	}},
	{name: "serviceaccount-token-controller", alias: "serviceaccount-token", newController: func(d *Daemon, store controllers.Store, kinds *catalog.Catalog) controller {
		return controllers.NewTokens(store, kinds, d.serviceAccountTokens.secretIssuer, d.serviceAccountTokens.trustBundle, d.log)
	}},
	{name: "serviceaccount-token-secret-controller", twin: noTwin, enabled: onPlatform, newController: func(d *Daemon, store controllers.Store, kinds *catalog.Catalog) controller {
		return controllers.NewTokenSecrets(store, kinds, d.log)
	}},
	{name: "storage-version-migrator-controller", alias: "svm", gate: features.StorageVersionMigrator, newController: func(d *Daemon, store controllers.Store, kinds *catalog.Catalog) controller {
		return controllers.NewStorageVersionMigrator(store, kinds, d.log)
	}},
	{name: "token-cleaner-controller", alias: "tokencleaner", enabled: onlyNamed, newController: func(d *Daemon, store controllers.Store, kinds *catalog.Catalog) controller {
		return controllers.NewTokenCleaner(store, kinds, d.log)
	}},
	{name: "validatingadmissionpolicy-status-controller", alias: "validatingadmissionpolicy-status", newController: func(d *Daemon, store controllers.Store, kinds *catalog.Catalog) controller {
		return controllers.NewPolicyStatus(store, kinds, d.log)
	}},
	{name: "volumeattributesclass-protection-controller", newController: func(d *Daemon, store controllers.Store, kinds *catalog.Catalog) controller {
		return controllers.NewAttributesClassProtection(store, kinds, d.log)
	}},
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

// A preparer is a controller that puts something in place which clients rely on from the first request.
type preparer interface{ Ready() <-chan struct{} }

// maxPreparation bounds the wait for preparers: a store that cannot write now is served all the same.
const maxPreparation = 10 * time.Second

// startOwnControllers starts the server's own controllers, and waits for the preparers among them. They pass no
// authorization and no admission.
func (d *Daemon) startOwnControllers() error {
	d.startElection()
	d.definitions = controllers.NewDefinitions(d.store, d.kinds, d.log)
	d.controllers.run(d.definitions.Run)
	d.controllers.run(controllers.NewSystemObjects(d.store, d.kinds, d.log).Run)
	d.legacyTokens = controllers.NewLegacyTokenTracking(d.store, d.kinds, d.log)
	d.controllers.run(d.legacyTokens.Run)
	d.runIdentityLease()
	preparers := d.runBuiltIns(true)
	if ttl := time.Duration(d.config.API.EventTTL); ttl > 0 {
		d.runWhereLeading(controllers.NewEventExpiry(d.leadersStore(), d.kinds, ttl, d.log).Run)
	}
	// One timeout for all of them together, since they prepare at the same time.
	timeout := time.After(maxPreparation)
	for _, p := range preparers {
		select {
		case <-p.Ready():
		case <-timeout:
			d.log.Warn("serving begins before all controllers have prepared it")
			return nil
		}
	}
	return nil
}

// startControllers starts all other controllers. What they write is admitted, and some ask what users may do. Policies are
// made only when the port is open, so they come later than the server's own.
func (d *Daemon) startControllers() error {
	d.runBuiltIns(false)
	return nil
}

// runBuiltIns runs those that are switched on, the server's own ones or the others, and returns those of them that are to be
// waited for.
func (d *Daemon) runBuiltIns(own bool) (preparers []preparer) {
	for _, b := range builtIns {
		if b.own != own || !d.config.Controllers.runs(b, d.naming) || b.gate != "" && !d.features.Enabled(b.gate) {
			continue
		}
		if b.yields() {
			d.followLeader()
		}
		c := d.newController(b)
		d.controllers.run(func(ctx context.Context) { d.runController(ctx, b, c) })
		// One that may stand back would not prepare anything then.
		if p, ok := c.(preparer); ok && b.own && (b.runsOn == everyDaemon || d.election == nil) {
			preparers = append(preparers, p)
		}
	}
	return preparers
}

// yields reports whether the controller pauses while kube-controller-manager holds its Lease.
func (b builtIn) yields() bool { return !b.own && b.twin != noTwin }

// newController makes a controller with the store that is its.
func (d *Daemon) newController(b builtIn) controller {
	store := d.leadersStore()
	switch {
	case !b.own:
		store = d.admitting(store)
	case b.runsOn == everyDaemon:
		store = d.store
	}
	return b.newController(d, store, d.kinds)
}
