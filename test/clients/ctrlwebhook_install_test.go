package clients

import (
	"path/filepath"
	"testing"

	admissionregistration "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrlclient "sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/troupe-api/troupe/test/client"
)

func marshal(t *testing.T, o runtime.Object) []byte {
	t.Helper()
	text := client.Encode(t, o)
	return text
}

// TestInstalledFromFiles checks that envtest reads webhook configurations from files, and sets the
// address and CA of the test's webhook server. A second installation must update them.
func TestInstalledFromFiles(t *testing.T) {
	t.Parallel()
	s := open(t, func(namespace string, o *envtest.WebhookInstallOptions) {
		rules := about("apps", []string{"deployments"}, writes...)
		m, v := mutating(namespace, "/allowing", rules), validating(namespace, "/failing", rules)
		m.APIVersion, m.Kind = "admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration"
		v.APIVersion, v.Kind = "admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration"
		manifests := append(append(marshal(t, m), "\n---\n"...), marshal(t, v)...)
		dir := t.TempDir()
		client.WriteFile(t, filepath.Join(dir, "manifests.yaml"), manifests)
		o.Paths = []string{dir}
	})
	o := &s.env.WebhookInstallOptions
	if len(o.MutatingWebhooks) != 1 || len(o.ValidatingWebhooks) != 1 {
		t.Fatalf("installed: %v %v", o.MutatingWebhooks, o.ValidatingWebhooks)
	}
	if err := o.Install(s.env.Config); err != nil {
		t.Fatal(err)
	}
	var stored admissionregistration.ValidatingWebhookConfiguration
	if err := s.Get(t.Context(), ctrlclient.ObjectKey{Name: s.namespace}, &stored); err != nil {
		t.Fatal(err)
	}
	hook := stored.Webhooks[0]
	if hook.ClientConfig.URL == nil || len(hook.ClientConfig.CABundle) == 0 || *hook.FailurePolicy != admissionregistration.Fail ||
		*hook.MatchPolicy != admissionregistration.Equivalent || *hook.TimeoutSeconds != 10 {
		t.Errorf("stored: %+v", hook)
	}
	server := webhook.NewServer(s.options())
	server.Register("/failing", &webhook.Admission{Handler: admission.HandlerFunc(denying)})
	server.Register("/allowing", &webhook.Admission{Handler: admission.HandlerFunc(allowing)})
	s.startServer(server)
	s.refused(s.Create(t.Context(), deploymentControllerWebhooks(s.namespace, "d")), 403, "Always denied")
}
