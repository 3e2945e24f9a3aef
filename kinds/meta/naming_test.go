package meta

import "testing"

func TestTranslate(t *testing.T) {
	tests := map[string]string{ // platform form → Kubernetes form
		"":                                    "",
		"apps":                                "apps",
		"Always":                              "Always",
		"platform":                            "kubernetes",
		"platforms":                           "platforms",
		"notplatform.io/x":                    "notplatform.io/x",
		"platform.io/metadata.name":           "kubernetes.io/metadata.name",
		"platform.io/service-account-token":   "kubernetes.io/service-account-token",
		"platform.io/initial-events-end":      "k8s.io/initial-events-end",
		"platform.io/deprecated":              "k8s.io/deprecated",
		"platform.io/apiserver-client":        "kubernetes.io/kube-apiserver-client",
		"platform.io/apiserver-client-node":   "kubernetes.io/kube-apiserver-client-kubelet",
		"platform.io/node-serving":            "kubernetes.io/kubelet-serving",
		"storage.platform.io":                 "storage.k8s.io",
		"storage.platform.io/v1":              "storage.k8s.io/v1",
		"rbac.authorization.platform.io":      "rbac.authorization.k8s.io",
		"rbac.authorization.platform.io/x":    "rbac.authorization.k8s.io/x",
		"authentication.platform.io/v1":       "authentication.k8s.io/v1",
		"authentication.platform.io/pod-uid":  "authentication.kubernetes.io/pod-uid",
		"node.platform.io":                    "node.k8s.io",
		"node.platform.io/v1":                 "node.k8s.io/v1",
		"node.platform.io/unschedulable":      "node.kubernetes.io/unschedulable",
		"resource.platform.io/v1":             "resource.k8s.io/v1",
		"resource.platform.io/admin-access":   "resource.kubernetes.io/admin-access",
		"csi.storage.platform.io/fstype":      "csi.storage.k8s.io/fstype",
		"bootstrap.platform.io/token":         "bootstrap.kubernetes.io/token",
		"ingressclass.platform.io/is-default": "ingressclass.kubernetes.io/is-default",
		"mutation.webhook.admission.platform.io/round_0_index_0": "mutation.webhook.admission.k8s.io/round_0_index_0",
		"customresourcecleanup.apiextensions.platform.io":        "customresourcecleanup.apiextensions.k8s.io",
		"x-platform-list-type":                                   "x-kubernetes-list-type",
		"X-Platform-Pf-FlowSchema-Uid":                           "X-Kubernetes-Pf-FlowSchema-Uid",
		"application/vnd.platform.protobuf":                      "application/vnd.kubernetes.protobuf",
		"platform-system":                                        "kube-system",
		"platform-node-lease":                                    "kube-node-lease",
		"platform-root-ca.crt":                                   "kube-root-ca.crt",
		"platform-api-access-":                                   "kube-api-access-",
		"/var/run/secrets/platform.io/serviceaccount":            "/var/run/secrets/kubernetes.io/serviceaccount",
		"PLATFORM_EXEC_INFO":                                     "KUBERNETES_EXEC_INFO",
	}
	for name, want := range tests {
		if got := Kubernetes.Translate(name); got != want {
			t.Errorf("Name(%q) = %q, want %q", name, got, want)
		}
		if got := Platform.Translate(name); got != name {
			t.Errorf("the platform profile changes %q to %q", name, got)
		}
	}
}

func TestNamingMethods(t *testing.T) {
	for _, n := range []*Naming{Platform, Kubernetes} {
		for got, platform := range map[string]string{
			n.Group("meta"):         "meta.platform.io",
			n.ProtobufMediaType():   "application/vnd.platform.protobuf",
			n.NamespaceFinalizer():  "platform",
			n.MetadataNameLabel():   "platform.io/metadata.name",
			n.SystemNamespaces()[3]: "platform-system",
			n.SystemNamespaces()[2]: "platform-public",
			n.SystemNamespaces()[1]: "platform-node-lease",
			n.InitialEventsEnd():    "platform.io/initial-events-end",
		} {
			if want := n.Translate(platform); got != want {
				t.Errorf("%s: %q, want %q", n.Profile, got, want)
			}
		}
	}
}

func TestParseNaming(t *testing.T) {
	for s, want := range map[string]*Naming{"platform": Platform, "kubernetes": Kubernetes, "": nil, "Platform": nil} {
		n, err := ParseNaming(s)
		if n != want || (err == nil) != (want != nil) {
			t.Errorf("ParseNaming(%q) = %v, %v", s, n, err)
		}
	}
}
