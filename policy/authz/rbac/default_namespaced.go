package rbac

// namespacedRoles are in system namespaces and limited to them: a component with a leader election
// lease can write no other leases. cluster-info is public, because a joining machine reads it
// before it has a credential.
func namespacedRoles() []defaultRole {
	const system, public = "platform-system", "platform-public"
	leading := func(component string, others ...string) defaultRole {
		return defaultRole{
			namespace: system, name: "system::leader-locking-" + component,
			subjects: bindTo(append(others, "user system:"+component, "account "+system+"/"+component)...),
			rules: []rule{
				newRule(readVerbs+" create update", coordinationGroup, "leases"),
				newRule(readVerbs+" create update", coordinationGroup, "leasecandidates"),
			},
		}
	}
	of := func(namespace, name string, rules ...rule) defaultRole {
		return defaultRole{
			namespace: namespace, name: "system:controller:" + name, rules: rules,
			subjects: bindTo("account " + system + "/" + name),
		}
	}
	return []defaultRole{
		{
			namespace: system, name: "extension-apiserver-authentication-reader",
			bindingName: "system::extension-apiserver-authentication-reader",
			subjects:    bindTo("user system:platform-controller-manager", "user system:platform-scheduler"),
			rules:       []rule{newRule(readVerbs, coreGroup, "configmaps", "extension-apiserver-authentication")},
		},
		leading("platform-controller-manager", "account "+system+"/leader-election-controller"),
		leading("platform-scheduler"),
		of(system, "bootstrap-signer", newRule(readVerbs, coreGroup, "secrets")),
		of(system, "cloud-provider", newRule(readVerbs+" create", coreGroup, "configmaps")),
		of(system, "token-cleaner", newRule(readVerbs+" delete", coreGroup, "secrets"), eventsRule()),
		{
			namespace: public, name: "system:bootstrap-signer-clusterinfo",
			subjects: bindTo("group system:authenticated", "group system:unauthenticated"),
			rules:    []rule{newRule("get", coreGroup, "configmaps", "cluster-info")},
		},
		of(public, "bootstrap-signer", newRule(readVerbs, coreGroup, "configmaps"), newRule("update", coreGroup, "configmaps", "cluster-info"), eventsRule()),
	}
}
