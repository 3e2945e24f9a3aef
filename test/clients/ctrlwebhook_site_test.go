package clients

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	admissionregistration "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	ctrlclient "sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

var config = client.NewShared(func() (*rest.Config, error) {
	dir, err := client.SharedDir()
	if err != nil {
		return nil, err
	}
	c := daemon.Default()
	c.DataDir, c.Naming, c.Serving.SecurePort = dir, "kubernetes", 0
	var log client.Log
	d, err := daemon.New(c, &log)
	if err == nil {
		err = d.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, log.String())
	}
	client.AtEnd(func() error { return d.Stop(context.Background()) })
	config, err := clientcmd.BuildConfigFromFlags("", d.Kubeconfig())
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	return config, nil
})

// namespaces counts the created namespaces, to give each a unique name.
var namespaces atomic.Int64

// A controllerWebhookSite is a namespace with its webhook configurations and serving certificates.
type controllerWebhookSite struct {
	*testing.T
	ctrlclient.Client
	env       *envtest.Environment
	namespace string
	warnings  *warnings
}

// open creates a namespace and installs the webhook configurations that fill adds to o.
func open(t *testing.T, fill func(namespace string, o *envtest.WebhookInstallOptions)) *controllerWebhookSite {
	t.Helper()
	s := &controllerWebhookSite{T: t, namespace: fmt.Sprintf("hooks-%d", namespaces.Add(1)), warnings: &warnings{}}
	own := rest.CopyConfig(config.Get(t))
	own.WarningHandlerWithContext = s.warnings
	var err error
	if s.Client, err = ctrlclient.New(own, ctrlclient.Options{}); err != nil {
		t.Fatal(err)
	}
	s.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.namespace}})
	existing := true
	s.env = &envtest.Environment{UseExistingCluster: &existing, Config: own}
	fill(s.namespace, &s.env.WebhookInstallOptions)
	if _, err := s.env.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.close)
	return s
}

// close deletes the webhook configurations, so that the server does not call stopped webhooks.
func (s *controllerWebhookSite) close() {
	for _, c := range s.env.WebhookInstallOptions.MutatingWebhooks {
		s.remove(c)
	}
	for _, c := range s.env.WebhookInstallOptions.ValidatingWebhooks {
		s.remove(c)
	}
	if err := s.env.Stop(); err != nil {
		s.Error(err)
	}
}

func (s *controllerWebhookSite) remove(o ctrlclient.Object) {
	if err := s.Delete(context.Background(), o); err != nil {
		s.Error(err)
	}
}

func (s *controllerWebhookSite) create(o ctrlclient.Object) {
	s.Helper()
	if err := s.Create(s.Context(), o); err != nil {
		s.Fatal(err)
	}
}

func (s *controllerWebhookSite) options() webhook.Options {
	o := s.env.WebhookInstallOptions
	return webhook.Options{Host: o.LocalServingHost, Port: o.LocalServingPort, CertDir: o.LocalServingCertDir}
}

func (s *controllerWebhookSite) manager() manager.Manager {
	s.Helper()
	m, err := manager.New(config.Get(s), manager.Options{
		Metrics: server.Options{BindAddress: "0"}, WebhookServer: webhook.NewServer(s.options()),
	})
	if err != nil {
		s.Fatal(err)
	}
	return m
}

// start runs a server or manager until the test ends. It blocks until started returns nil.
func (s *controllerWebhookSite) start(name interface{ Start(context.Context) error }, started func() error) {
	s.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- name.Start(ctx) }()
	s.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			s.Errorf("the server has ended: %v", err)
		}
	})
	client.Eventually(s.T, started)
}

func about(group string, resources []string, operations ...admissionregistration.OperationType) []admissionregistration.RuleWithOperations {
	return []admissionregistration.RuleWithOperations{{
		Operations: operations, Rule: admissionregistration.Rule{APIGroups: []string{group}, APIVersions: []string{"v1"}, Resources: resources},
	}}
}

// atControllerWebhooks returns a client config with a placeholder Service, which envtest replaces
// with a URL.
func atControllerWebhooks(path string) admissionregistration.WebhookClientConfig {
	return admissionregistration.WebhookClientConfig{Service: &admissionregistration.ServiceReference{Namespace: "default", Name: "webhooks", Path: &path}}
}

func within(namespace string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: namespace}}
}

var noSideEffects = admissionregistration.SideEffectClassNone

func validating(namespace, path string, rules []admissionregistration.RuleWithOperations) *admissionregistration.ValidatingWebhookConfiguration {
	return &admissionregistration.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: namespace},
		Webhooks: []admissionregistration.ValidatingWebhook{{
			Name: "validates." + namespace + ".example.com", ClientConfig: atControllerWebhooks(path), Rules: rules, NamespaceSelector: within(namespace),
			SideEffects: &noSideEffects, AdmissionReviewVersions: []string{"v1"},
		}},
	}
}

func mutating(namespace, path string, rules []admissionregistration.RuleWithOperations) *admissionregistration.MutatingWebhookConfiguration {
	return &admissionregistration.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: namespace},
		Webhooks: []admissionregistration.MutatingWebhook{{
			Name: "mutates." + namespace + ".example.com", ClientConfig: atControllerWebhooks(path), Rules: rules, NamespaceSelector: within(namespace),
			SideEffects: &noSideEffects, AdmissionReviewVersions: []string{"v1"},
		}},
	}
}
