package client

import (
	"strings"
	"testing"
)

// kubernetesNames replaces names of the platform profile. Longer names precede their prefixes, so
// that they match first.
var kubernetesNames = func() *strings.Replacer {
	names := []string{
		"platform.io/apiserver-client-node", "kubernetes.io/kube-apiserver-client-kubelet",
		"platform.io/apiserver-client", "kubernetes.io/kube-apiserver-client",
		"platform.io/node-serving", "kubernetes.io/kubelet-serving",
		"platform.io:apiserver-serving", "kubernetes.io:kube-apiserver-serving",
		"platform.io/apiserver-serving", "kubernetes.io/kube-apiserver-serving",
		"resource.platform.io/admin-access", "resource.kubernetes.io/admin-access",
		"node.platform.io/v1", "node.k8s.io/v1",
		`"authentication.platform.io"`, `"authentication.k8s.io"`,
		"x-platform-", "x-kubernetes-",
		"platform.UserInfo", "kubernetes.UserInfo",
	}
	groups := "admission admissionregistration apiextensions apiserver.config authorization certificates coordination eventratelimit.admission events " +
		"meta networking resource scheduling storage"
	for group := range strings.FieldsSeq(groups) {
		names = append(names, group+".platform.io", group+".k8s.io")
	}
	return strings.NewReplacer(append(names, "platform.io", "kubernetes.io", "platform-", "kube-")...)
}()

// Named translates names in text from the platform profile to another profile.
func Named(profile, text string) string {
	if profile == "platform" {
		return text
	}
	return kubernetesNames.Replace(text)
}

// Profiles lists the naming profiles.
var Profiles = []string{"platform", "kubernetes"}

// InProfiles runs a test in both naming profiles in parallel.
func InProfiles(t *testing.T, test func(t *testing.T, profile string)) {
	t.Parallel()
	for _, profile := range Profiles {
		t.Run(profile, func(t *testing.T) {
			t.Parallel()
			test(t, profile)
		})
	}
}
