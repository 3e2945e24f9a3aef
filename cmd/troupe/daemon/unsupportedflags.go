package daemon

// An UnsupportedFlag is a flag of kube-apiserver or kube-controller-manager that the daemon does
// not have.
type UnsupportedFlag struct {
	Name   string
	Type   string // of its values, as the help text names it; "" is string
	Reason string // a sentence
	// Controller is set for a flag of kube-controller-manager.
	Controller bool
	// Neutral is the value that asks for nothing that the daemon does not do; "*" is any value.
	Neutral string
}

// UnsupportedFlags lists every flag of kube-apiserver that the daemon does not have, and those of
// kube-controller-manager that users look for here. docs/configuration.md repeats the reasons.
var UnsupportedFlags = []UnsupportedFlag{
	{Name: "allow-metric-labels", Reason: "Labels of metrics are bounded by the server.", Neutral: "*"},
	{Name: "allow-metric-labels-manifest", Reason: "Labels of metrics are bounded by the server.", Neutral: "*"},
	{Name: "allow-privileged", Type: "bool", Reason: "Privileged containers are allowed; pod security admission restricts them.", Neutral: "true"},
	{Name: "audit-log-truncate-max-batch-size", Type: "int", Reason: "--audit-log-batch-max-size bounds batches.", Neutral: "*"},
	{Name: "audit-webhook-truncate-max-batch-size", Type: "int", Reason: "--audit-webhook-batch-max-size bounds batches.", Neutral: "*"},
	{Name: "authentication-config", Reason: "Use --oidc-issuer-url and the other --oidc flags, and the setting authentication.anonymousPaths."},
	{Name: "authorization-config", Reason: "Use --authorization-mode and the --authorization-webhook flags."},
	{Name: "contention-profiling", Type: "bool", Reason: "Go's block profile is not recorded.", Neutral: "*"},
	{Name: "coordinated-leadership-lease-duration", Type: "duration", Reason: "There is no coordinated leader election.", Neutral: "*"},
	{Name: "coordinated-leadership-renew-deadline", Type: "duration", Reason: "There is no coordinated leader election.", Neutral: "*"},
	{Name: "coordinated-leadership-retry-period", Type: "duration", Reason: "There is no coordinated leader election.", Neutral: "*"},
	{Name: "debug-socket-path", Reason: "Profiles are served below /debug/pprof/ only."},
	{Name: "delete-collection-workers", Type: "int", Reason: "The objects of a collection are deleted in one batch.", Neutral: "*"},
	{Name: "disabled-metrics", Reason: "All metrics are served."},
	{Name: "egress-selector-config-file", Reason: "Connections to webhooks, kubelets and extension servers are direct."},
	{Name: "emulated-version", Reason: "The server has one version."},
	{Name: "emulation-forward-compatible", Type: "bool", Reason: "The server has one version.", Neutral: "*"},
	{Name: "enable-logs-handler", Type: "bool", Reason: "/logs is not served.", Neutral: "*"},
	{Name: "endpoint-reconciler-type", Reason: "The endpoints of the Service of the API server list every live replica.", Neutral: "*"},
	{Name: "etcd-count-metric-poll-period", Type: "duration", Reason: "Objects are counted as they change.", Neutral: "*"},
	{Name: "etcd-db-metric-poll-interval", Type: "duration", Reason: "etcd serves the size of its database itself.", Neutral: "*"},
	{Name: "etcd-readycheck-timeout", Type: "duration", Reason: "Use --etcd-healthcheck-timeout.", Neutral: "*"},
	{Name: "etcd-servers-overrides", Reason: "All resources are in one etcd.", Neutral: "*"},
	{Name: "external-hostname", Reason: "No response holds an absolute address of the server.", Neutral: "*"},
	{Name: "goaway-chance", Type: "float", Reason: "Connections are not closed to spread clients over replicas.", Neutral: "*"},
	{Name: "kubernetes-service-node-port", Type: "int", Reason: "The Service of the API server has no node port.", Neutral: "0"},
	{Name: "lease-reuse-duration-seconds", Type: "int", Reason: "Expiration of Events does not use leases of etcd.", Neutral: "*"},
	{Name: "livez-grace-period", Type: "duration", Reason: "The port opens when the start is complete.", Neutral: "*"},
	{Name: "log-flush-frequency", Type: "duration", Reason: "The log is not buffered.", Neutral: "*"},
	{Name: "log-json-info-buffer-size", Reason: "The log is not buffered.", Neutral: "*"},
	{Name: "log-json-split-stream", Type: "bool", Reason: "The log goes to standard error.", Neutral: "*"},
	{Name: "log-text-info-buffer-size", Reason: "The log is not buffered.", Neutral: "*"},
	{Name: "log-text-split-stream", Type: "bool", Reason: "The log goes to standard error.", Neutral: "*"},
	{Name: "max-connection-bytes-per-sec", Type: "int", Reason: "The rate of a connection is not limited.", Neutral: "0"},
	{Name: "min-compatibility-version", Reason: "The server has one version.", Neutral: "*"},
	{Name: "peer-advertise-ip", Reason: "Replicas do not proxy requests to each other.", Neutral: "*"},
	{Name: "peer-advertise-port", Reason: "Replicas do not proxy requests to each other.", Neutral: "*"},
	{Name: "peer-ca-file", Reason: "Replicas do not proxy requests to each other.", Neutral: "*"},
	{Name: "permit-address-sharing", Type: "bool", Reason: "An address can be bound again right after its process has ended.", Neutral: "*"},
	{Name: "permit-port-sharing", Type: "bool", Reason: "Two servers on one port would serve two states.", Neutral: "*"},
	{Name: "root-ca-file", Controller: true, Reason: "The root CA ConfigMaps hold the CA of admin.kubeconfig: the server's own, or that of --tls-cert-file."},
	{Name: "runtime-config-emulation-forward-compatible", Type: "bool", Reason: "The server has one version.", Neutral: "*"},
	{Name: "service-account-signing-endpoint", Reason: "Use --service-account-signing-key-file."},
	{Name: "show-hidden-metrics-for-version", Reason: "No metrics are hidden.", Neutral: "*"},
	{Name: "shutdown-send-retry-after", Type: "bool", Reason: "New requests are served until the port closes.", Neutral: "*"},
	{Name: "shutdown-watch-termination-grace-period", Type: "duration", Reason: "Watches end within the drain timeout.", Neutral: "*"},
	{Name: "storage-backend", Reason: "--etcd-servers selects etcd; the data directory is the default.", Neutral: "*"},
	{Name: "storage-initialization-timeout", Type: "duration", Reason: "The port opens when the start is complete.", Neutral: "*"},
	{Name: "storage-media-type", Reason: "Objects are stored as JSON.", Neutral: "*"},
	{Name: "tracing-config-file", Reason: "Traces are not exported."},
	{Name: "use-service-account-credentials", Type: "bool", Controller: true, Reason: "The built-in controllers do not use the network."},
	{Name: "version", Reason: "Use troupe version."},
	{Name: "vmodule", Reason: "Use -v, which applies to all packages.", Neutral: "*"},
	{Name: "watch-cache", Type: "bool", Reason: "Watches always read the history in memory.", Neutral: "*"},
	{Name: "watch-cache-sizes", Reason: "The setting watches.historyBytes bounds the history in memory.", Neutral: "*"},
}
