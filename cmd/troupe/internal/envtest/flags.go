package envtest

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// A foreignFlag is a flag of kube-apiserver that the daemon does not have.
type foreignFlag struct {
	name string
	kind kind
	// missing says what is not done that the flag asks for; "" where it asks for nothing that there is here.
	missing string
	// harmless is the value that asks for nothing, of a flag that has something missing.
	harmless string
}

// A kind is what the values of a flag look like, so that wrong ones are told as they are by kube-apiserver.
type kind int

const (
	text kind = iota
	boolean
	integer
	number
	duration
)

// foreignFlags are all flags of kube-apiserver 1.35 that the daemon does not have itself. A test holds the list against
// kube-apiserver's own help.
var foreignFlags = []foreignFlag{
	{name: "aggregator-reject-forwarding-redirect", kind: boolean, missing: "redirects of extension servers are refused always", harmless: "true"},
	{name: "allow-metric-labels"},
	{name: "allow-metric-labels-manifest"},
	{name: "allow-privileged", kind: boolean, missing: "privileged containers are allowed", harmless: "true"},
	{name: "audit-log-truncate-max-batch-size", kind: integer},
	{name: "audit-webhook-truncate-max-batch-size", kind: integer},
	{name: "authentication-config", missing: "the authenticators of this file are not used"},
	{name: "authorization-config", missing: "the authorizers of this file are not used; RBAC decides unless --authorization-mode says otherwise"},
	{name: "contention-profiling", kind: boolean},
	{name: "coordinated-leadership-lease-duration", kind: duration},
	{name: "coordinated-leadership-renew-deadline", kind: duration},
	{name: "coordinated-leadership-retry-period", kind: duration},
	{name: "debug-socket-path", missing: "nothing is served on this socket"},
	{name: "delete-collection-workers", kind: integer},
	{name: "disable-http2-serving", kind: boolean},
	{name: "disabled-metrics", missing: "these metrics are served all the same"},
	{name: "egress-selector-config-file", missing: "connections to webhooks, kubelets and extension servers are made directly"},
	{name: "emulated-version", missing: "the server is of one version"},
	{name: "emulation-forward-compatible", kind: boolean},
	{name: "enable-logs-handler", kind: boolean},
	{name: "endpoint-reconciler-type"},
	{name: "etcd-cafile"},
	{name: "etcd-certfile"},
	{name: "etcd-compaction-interval", kind: duration},
	{name: "etcd-count-metric-poll-period", kind: duration},
	{name: "etcd-db-metric-poll-interval", kind: duration},
	{name: "etcd-healthcheck-timeout", kind: duration},
	{name: "etcd-keyfile"},
	{name: "etcd-prefix"},
	{name: "etcd-readycheck-timeout", kind: duration},
	{name: "etcd-servers"},
	{name: "etcd-servers-overrides"},
	{name: "external-hostname"},
	{name: "goaway-chance", kind: number},
	{name: "http2-max-streams-per-connection", kind: integer},
	{name: "kubernetes-service-node-port", kind: integer, missing: "the Service of the API has no port of nodes", harmless: "0"},
	{name: "lease-reuse-duration-seconds", kind: integer},
	{name: "livez-grace-period", kind: duration},
	{name: "log-flush-frequency", kind: duration},
	{name: "log-json-info-buffer-size"},
	{name: "log-json-split-stream", kind: boolean},
	{name: "log-text-info-buffer-size"},
	{name: "log-text-split-stream", kind: boolean},
	{name: "max-connection-bytes-per-sec", kind: integer, missing: "connections are as fast as they can be", harmless: "0"},
	{name: "min-compatibility-version"},
	{name: "peer-advertise-ip"},
	{name: "peer-advertise-port"},
	{name: "peer-ca-file"},
	{name: "permit-address-sharing", kind: boolean},
	{name: "permit-port-sharing", kind: boolean},
	{name: "runtime-config-emulation-forward-compatible", kind: boolean},
	{name: "service-account-signing-endpoint", missing: "tokens are signed with a key of a file or a new one"},
	{name: "show-hidden-metrics-for-version"},
	{name: "shutdown-send-retry-after", kind: boolean},
	{name: "shutdown-watch-termination-grace-period", kind: duration},
	{name: "storage-backend"},
	{name: "storage-initialization-timeout", kind: duration},
	{name: "storage-media-type"},
	{name: "tracing-config-file", missing: "no traces are sent"},
	{name: "vmodule"},
	{name: "watch-cache", kind: boolean},
	{name: "watch-cache-sizes"},
}

// addForeign defines the flags that the daemon does not have.
func addForeign(f *pflag.FlagSet) {
	for _, foreign := range foreignFlags {
		usage := "No meaning here."
		if foreign.missing != "" {
			usage = "Not done: " + foreign.missing + "."
		}
		flag := f.VarPF(&foreignValue{kind: foreign.kind}, foreign.name, "", usage)
		if foreign.kind == boolean {
			flag.NoOptDefVal = "true"
		}
	}
}

// A foreignValue checks what it is given, and keeps it for the log.
type foreignValue struct {
	kind  kind
	given string
}

// String implements pflag.Value.
func (v *foreignValue) String() string { return v.given }

// Type names the values in the help.
func (v *foreignValue) Type() string {
	return [...]string{text: "string", boolean: "bool", integer: "int", number: "float", duration: "duration"}[v.kind]
}

// Set implements pflag.Value. A flag that is given again holds all that was given.
func (v *foreignValue) Set(s string) (err error) {
	switch v.kind {
	case boolean:
		var b bool
		b, err = strconv.ParseBool(s)
		s = strconv.FormatBool(b)
	case integer:
		_, err = strconv.ParseInt(s, 10, 64)
	case number:
		_, err = strconv.ParseFloat(s, 64)
	case duration:
		_, err = time.ParseDuration(s)
	}
	if err != nil {
		return fmt.Errorf("%q is no %s", s, v.Type())
	}
	if v.kind == text && v.given != "" {
		s = strings.Join([]string{v.given, s}, ",")
	}
	v.given = s
	return nil
}
