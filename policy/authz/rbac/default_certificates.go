package rbac

// certificateRoles are for those who ask for certificates, and those who approve them.
func certificateRoles() []standard {
	const prefix = "system:" + signing + ":"
	approver := func(name, signer string) standard {
		return standard{name: prefix + name + "-approver", rules: []rule{may("approve", signing, "signers", signer)}}
	}
	return []standard{
		{name: prefix + "certificatesigningrequests:nodeclient", rules: []rule{
			may("create", signing, "certificatesigningrequests/nodeclient"),
		}},
		{name: prefix + "certificatesigningrequests:selfnodeclient", rules: []rule{
			may("create", signing, "certificatesigningrequests/selfnodeclient"),
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
