package rbac

// localRoles are those in the namespaces of the system.
func localRoles() []standard {
	const system, public = "platform-system", "platform-public"
	leading := func(component string) standard {
		return standard{
			namespace: system, name: "system::leader-locking-" + component,
			bound: to("user system:"+component, "account "+system+"/"+component),
			rules: []rule{
				may(reads+" create update", leasing, "leases"),
				may(reads+" create update", leasing, "leasecandidates"),
			},
		}
	}
	of := func(namespace, name string, rules ...rule) standard {
		return standard{
			namespace: namespace, name: "system:controller:" + name, rules: rules,
			bound: to("account " + system + "/" + name),
		}
	}
	return []standard{
		{
			namespace: system, name: "extension-apiserver-authentication-reader",
			binding: "system::extension-apiserver-authentication-reader",
			bound:   to("user system:platform-controller-manager", "user system:platform-scheduler"),
			rules:   []rule{may(reads, core, "configmaps", "extension-apiserver-authentication")},
		},
		leading("platform-controller-manager"),
		leading("platform-scheduler"),
		of(system, "bootstrap-signer", may(reads, core, "secrets")),
		of(system, "cloud-provider", may(reads+" create", core, "configmaps")),
		of(system, "token-cleaner", may(reads+" delete", core, "secrets"), tell()),
		{
			namespace: public, name: "system:bootstrap-signer-clusterinfo",
			bound: to("group system:authenticated", "group system:unauthenticated"),
			rules: []rule{may("get", core, "configmaps", "cluster-info")},
		},
		of(public, "bootstrap-signer", may(reads, core, "configmaps"), may("update", core, "configmaps", "cluster-info"), tell()),
	}
}
