package rbac

// certificateRoles are for those who ask for certificates, and those who approve them.
func certificateRoles() []defaultRole {
	const prefix = "system:" + certificatesGroup + ":"
	approver := func(name, signer string) defaultRole {
		return defaultRole{name: prefix + name + "-approver", rules: []rule{newRule("approve", certificatesGroup, "signers", signer)}}
	}
	return []defaultRole{
		{name: prefix + "certificatesigningrequests:nodeclient", rules: []rule{
			newRule("create", certificatesGroup, "certificatesigningrequests/nodeclient"),
		}},
		{name: prefix + "certificatesigningrequests:selfnodeclient", rules: []rule{
			newRule("create", certificatesGroup, "certificatesigningrequests/selfnodeclient"),
		}},
		approver("apiserver-client", clientSigner),
		approver("apiserver-client-node", nodeSigner),
		approver("node-serving", servingSigner),
		approver("legacy-unknown", legacySigner),
	}
}

// The signers that every cluster has.
const (
	clientSigner  = "platform.io/apiserver-client"
	nodeSigner    = "platform.io/apiserver-client-node"
	servingSigner = "platform.io/node-serving"
	legacySigner  = "platform.io/legacy-unknown"
)
