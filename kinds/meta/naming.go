package meta

import (
	"fmt"
	"strings"
)

// A Naming is a naming profile: the spelling of all identifiers that contain a vendor name. Code
// and declarations use the platform profile's names. Only this file contains those of other
// profiles.
type Naming struct {
	Profile string // "platform" or "kubernetes"

	word       string            // vendor word alone, as in the namespace finalizer
	groups     string            // suffix of API groups
	domain     string            // domain of labels, annotations and finalizers
	short      string            // prefix of system names
	exceptions map[string]string // names not covered by the rules of Translate
	translates bool              // false for the platform profile itself
}

// Platform is the default profile. It uses the vendor-neutral names.
var Platform = &Naming{Profile: "platform", word: "platform", groups: "platform.io", domain: "platform.io", short: "platform-"}

// Kubernetes is the profile with the names that Kubernetes clients expect.
var Kubernetes = &Naming{
	Profile: "kubernetes", word: "kubernetes", groups: "k8s.io", domain: "kubernetes.io", short: "kube-",
	translates: true,
	exceptions: map[string]string{
		"platform.io/initial-events-end":                 "k8s.io/initial-events-end",
		"platform.io/deprecated":                         "k8s.io/deprecated",
		"platform.io/removed-release":                    "k8s.io/removed-release",
		"platform.io/apiserver-client":                   "kubernetes.io/kube-apiserver-client",
		"platform.io/apiserver-client-node":              "kubernetes.io/kube-apiserver-client-kubelet",
		"platform.io/node-serving":                       "kubernetes.io/kubelet-serving",
		"platform.io/apiserver-serving":                  "kubernetes.io/kube-apiserver-serving",
		"platform-admin":                                 "kubernetes-admin",
		"platform-short-name":                            "k8s-short-name", // string formats
		"platform-long-name":                             "k8s-long-name",
		"platform-root-ca.crt":                           "kube-root-ca.crt",
		"rbac.authorization.platform.io/autoupdate":      "rbac.authorization.kubernetes.io/autoupdate",
		"platform-aggregator.platform.io/automanaged":    "kube-aggregator.kubernetes.io/automanaged",
		"authentication.platform.io/credential-id":       "authentication.kubernetes.io/credential-id",
		"authentication.platform.io/pod-name":            "authentication.kubernetes.io/pod-name",
		"authentication.platform.io/pod-uid":             "authentication.kubernetes.io/pod-uid",
		"authentication.platform.io/node-name":           "authentication.kubernetes.io/node-name",
		"authentication.platform.io/node-uid":            "authentication.kubernetes.io/node-uid",
		"application/vnd.platform.protobuf":              "application/vnd.kubernetes.protobuf",
		"application/vnd.platform.protobuf;stream=watch": "application/vnd.kubernetes.protobuf;stream=watch",
		"/var/run/secrets/platform.io/serviceaccount":    "/var/run/secrets/kubernetes.io/serviceaccount",
		"PLATFORM_EXEC_INFO":                             "KUBERNETES_EXEC_INFO",
		"PLATFORM_SERVICE_HOST":                          "KUBERNETES_SERVICE_HOST",
		"PLATFORM_SERVICE_PORT":                          "KUBERNETES_SERVICE_PORT",
		// Users, roles and role bindings.
		"system:platform-aggregator":         "system:kube-aggregator",
		"system:platform-controller-manager": "system:kube-controller-manager",
		"system:platform-dns":                "system:kube-dns",
		"system:platform-proxy":              "system:kube-proxy",
		"system:platform-scheduler":          "system:kube-scheduler",
		"system:apiserver-node-client":       "system:kube-apiserver-kubelet-client",
		"system:controller:platform-apiserver-serving-clustertrustbundle-publisher": "system:controller:kube-apiserver-serving-clustertrustbundle-publisher",
		"system:node-api-admin":                                                     "system:kubelet-api-admin",
		"system::leader-locking-platform-controller-manager":                        "system::leader-locking-kube-controller-manager",
		"system::leader-locking-platform-scheduler":                                 "system::leader-locking-kube-scheduler",
		"system:certificates.platform.io:certificatesigningrequests:nodeclient":     "system:certificates.k8s.io:certificatesigningrequests:nodeclient",
		"system:certificates.platform.io:certificatesigningrequests:selfnodeclient": "system:certificates.k8s.io:certificatesigningrequests:selfnodeclient",
		"system:certificates.platform.io:apiserver-client-approver":                 "system:certificates.k8s.io:kube-apiserver-client-approver",
		"system:certificates.platform.io:apiserver-client-node-approver":            "system:certificates.k8s.io:kube-apiserver-client-kubelet-approver",
		"system:certificates.platform.io:node-serving-approver":                     "system:certificates.k8s.io:kubelet-serving-approver",
		"system:certificates.platform.io:legacy-unknown-approver":                   "system:certificates.k8s.io:legacy-unknown-approver",
	},
}

// ParseNaming returns the naming profile with the given name.
func ParseNaming(s string) (*Naming, error) {
	for _, n := range []*Naming{Platform, Kubernetes} {
		if n.Profile == s {
			return n, nil
		}
	}
	return nil, fmt.Errorf("naming profile %q: must be platform or kubernetes", s)
}

const platformDomain = "platform.io"

// groupPrefixes lists the API groups that end with the vendor suffix, without the suffix. Their
// labels and annotations also use the group domain, except for groups in labelDomains.
var groupPrefixes = map[string]bool{
	"storage": true, "networking": true, "discovery": true, "rbac.authorization": true,
	"authentication": true, "authorization": true, "certificates": true,
	"admissionregistration": true, "admission": true, "apiextensions": true,
	"apiregistration": true, "coordination": true, "events": true, "lifecycle": true, "scheduling": true, "storagemigration": true,
	"node": true, "meta": true, "apidiscovery": true, "client.authentication": true,
	"apiserver.config": true, "audit": true, "resource": true, "internal.apiserver": true,
	"flowcontrol.apiserver": true, "metrics": true, "custom.metrics": true, "external.metrics": true,
	// Subdomains of a group.
	"csi.storage": true, "imperative-eviction": true, "snapshot.storage": true, "customresourcecleanup.apiextensions": true,
	"mutation.webhook.admission": true, "patch.webhook.admission": true, ".static": true,
	// Names of controllers.
	"endpointslice-controller": true, "endpointslicemirroring-controller": true,
}

// labelDomains lists the groups whose labels and annotations use the label domain instead.
var labelDomains = map[string]bool{"node": true, "resource": true}

// Translate translates an identifier of the platform profile, such as "storage.platform.io",
// "platform.io/metadata.name" or "platform-system". It returns identifiers without a vendor name
// unchanged.
func (n *Naming) Translate(s string) string {
	if !n.translates {
		return s
	}
	if name, ok := n.exceptions[s]; ok {
		return name
	}
	switch s {
	case "platform":
		return n.word
	case "Platform":
		return n.Product()
	}
	if rest, ok := strings.CutPrefix(s, "platform-"); ok {
		return n.short + rest
	}
	for _, header := range []string{"x-platform-", "X-Platform-"} {
		if rest, ok := strings.CutPrefix(s, header); ok {
			return header[:2] + matchCase(header[2], n.word) + "-" + rest
		}
	}
	return n.translateDomain(s)
}

func matchCase(like byte, word string) string {
	if like >= 'A' && like <= 'Z' {
		return strings.ToUpper(word[:1]) + word[1:]
	}
	return word
}

func (n *Naming) translateDomain(s string) string {
	domain, path, slash := strings.Cut(s, "/")
	prefix, ok := strings.CutSuffix(domain, platformDomain)
	if !ok || prefix != "" && !strings.HasSuffix(prefix, ".") {
		return s
	}
	name := prefix + n.domain
	if group := strings.TrimSuffix(prefix, "."); groupPrefixes[group] && !(labelDomains[group] && slash && !isVersion(path)) {
		name = prefix + n.groups
	}
	if slash {
		name += "/" + path
	}
	return name
}

// isVersion reports whether path is the version of an apiVersion, such as "v1" or "v1beta1", rather
// than a label name.
func isVersion(path string) bool {
	return len(path) >= 2 && path[0] == 'v' && path[1] >= '1' && path[1] <= '9' && !strings.Contains(path, "/")
}

// Group returns the full name of an API group with the vendor suffix, such as "meta.k8s.io" for
// "meta".
func (n *Naming) Group(prefix string) string { return prefix + "." + n.groups }

// Domains returns the vendor domain of labels and, if it differs, the vendor domain of groups.
func (n *Naming) Domains() []string {
	if n.domain == n.groups {
		return []string{n.domain}
	}
	return []string{n.domain, n.groups}
}

// ProtobufMediaType returns the media type of Protobuf bodies.
func (n *Naming) ProtobufMediaType() string { return "application/vnd." + n.word + ".protobuf" }

// Product returns the product name for messages, such as "Kubernetes".
func (n *Naming) Product() string { return matchCase('A', n.word) }

// NamespaceFinalizer returns the finalizer in spec.finalizers of a namespace.
func (n *Naming) NamespaceFinalizer() string { return n.word }

// SystemNamespace returns the namespace of system components.
func (n *Naming) SystemNamespace() string { return n.short + "system" }

// PublicNamespace returns the namespace that all users can read.
func (n *Naming) PublicNamespace() string { return n.short + "public" }

// NodeLeaseNamespace returns the namespace of node heartbeat Leases.
func (n *Naming) NodeLeaseNamespace() string { return n.short + "node-lease" }

// SystemNamespaces returns the namespaces that always exist: "default" and the profile's
// namespaces.
func (n *Naming) SystemNamespaces() []string {
	return []string{"default", n.NodeLeaseNamespace(), n.PublicNamespace(), n.SystemNamespace()}
}

// MetadataNameLabel returns the key of the label whose value is a namespace's name.
func (n *Naming) MetadataNameLabel() string { return n.domain + "/metadata.name" }

// InitialEventsEnd returns the annotation of the bookmark that ends a watch's initial events.
func (n *Naming) InitialEventsEnd() string { return n.Translate("platform.io/initial-events-end") }
