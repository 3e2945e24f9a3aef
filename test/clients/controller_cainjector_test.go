package clients

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/cert-manager/cert-manager/pkg/controller/cainjector"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	runtimeclient "sigs.k8s.io/controller-runtime/pkg/client"
	runtimeconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/troupe-api/troupe/cmd/troupe/troupetest"
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/test/client"
	"github.com/troupe-api/troupe/test/client/pki"
)

const (
	injectorAgent   = "cainjector" // the user agent, which is also the field manager
	configurations  = 10
	onConfiguration = "mutatingwebhookconfigurations.admissionregistration.k8s.io"
)

// An injector is cert-manager's cainjector, which adds the CA in a Secret to the CA bundles of
// webhooks.
type injector struct {
	*troupetest.Server
	t       *testing.T
	client  runtimeclient.Client // the test's client
	changes *troupetest.Changes  // changes of webhook configurations
	bundles map[string]string    // CA bundles by webhook configuration
	written int                  // number of bundle changes
}

// newInjector returns an injector for a fork of base. It is not running yet.
func newInjector(t *testing.T, base *troupetest.Server) *injector {
	t.Helper()
	s := troupetest.Fork(t, base, troupetest.WithFaults())
	i := &injector{Server: s, t: t, bundles: map[string]string{}, changes: s.Changes(t, troupetest.OfKinds("MutatingWebhookConfiguration"))}
	i.client = must.Get(runtimeclient.New(i.config(), runtimeclient.Options{}))(t)
	return i
}

func (i *injector) config() *rest.Config {
	return must.Get(clientcmd.RESTConfigFromKubeConfig(i.Kubeconfig()))(i.t)
}

// run sets faults, starts the controller, and returns a function that stops it.
func (i *injector) run(faults ...troupetest.Fault) (stop func()) {
	i.t.Helper()
	i.setFaults(faults...)
	api := i.config()
	api.UserAgent, api.QPS = injectorAgent, -1 // unlimited
	skip := true
	manager := must.Get(ctrl.NewManager(api, ctrl.Options{
		Metrics: server.Options{BindAddress: "0"}, Controller: runtimeconfig.Controller{SkipNameValidation: &skip},
		Client: runtimeclient.Options{Cache: &runtimeclient.CacheOptions{DisableFor: []runtimeclient.Object{&corev1.Secret{}}}},
	}))(i.t)
	ctx, cancel := context.WithCancel(i.t.Context())
	must.Succeed(i.t, cainjector.RegisterAllInjectors(ctx, manager, cainjector.SetupOptions{
		EnabledReconcilersFor: map[string]bool{cainjector.MutatingWebhookConfigurationName: true},
	}))
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			i.t.Error(err)
		}
	})
	i.t.Cleanup(stop)
	return stop
}

// setFaults injects faults into the controller's requests. It adds a rule that only counts the
// requests that apply a bundle.
func (i *injector) setFaults(faults ...troupetest.Fault) {
	faults = append(faults, troupetest.Fault{Effect: "Delay", Verbs: []string{"patch"}})
	for n := range faults {
		faults[n].UserAgent = injectorAgent
	}
	i.SetFaults(faults...)
}

// awaitReconciled waits until the controller has applied all bundles once since setFaults.
func (i *injector) awaitReconciled() {
	i.t.Helper()
	client.Eventually(i.t, func() error {
		counts := i.FaultCounts()
		if n := counts[len(counts)-1].Injected; n < configurations {
			return fmt.Errorf("%d of %d bundles were applied", n, configurations)
		}
		return nil
	})
}

// rotate replaces the CA and waits until all bundles contain the new one.
func (i *injector) rotate(ctx context.Context, ca string) {
	i.t.Helper()
	must.Succeed(i.t, i.client.Update(ctx, caSecret(ca)))
	for n := 0; n < configurations; {
		c := i.changes.Next(ctx)
		bundle := bundleOf(c)
		if strings.Contains(bundle, ca) && !strings.Contains(i.bundles[c.Name], ca) {
			n++
		}
		i.bundles[c.Name] = bundle
		i.written++
	}
}

func bundleOf(c troupetest.Change) string {
	w := admissionv1.MutatingWebhookConfiguration{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(c.Object, &w); err != nil {
		panic(err)
	}
	return string(w.Webhooks[0].ClientConfig.CABundle)
}

func caSecret(ca string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "ca", Annotations: map[string]string{"cert-manager.io/allow-direct-injection": "true"}},
		StringData: map[string]string{"ca.crt": ca},
	}
}

func webhookConfiguration(name, bundle string) *admissionv1.MutatingWebhookConfiguration {
	return &admissionv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{"cert-manager.io/inject-ca-from-secret": "default/ca"}},
		Webhooks: []admissionv1.MutatingWebhook{{
			Name: "hook.example.com", SideEffects: new(admissionv1.SideEffectClassNone), AdmissionReviewVersions: []string{"v1"},
			ClientConfig: admissionv1.WebhookClientConfig{URL: new("https://127.0.0.1:1"), CABundle: []byte(bundle)},
		}},
	}
}

func newCA(t *testing.T) string { return string(pki.PEM(pki.Authority(t, "ca").Leaf)) }

// newInjectorBase returns the server that tests fork. It has a CA, and webhooks that trust it.
func newInjectorBase(t *testing.T) (base *troupetest.Server, ca string) {
	t.Helper()
	ca = newCA(t)
	base = troupetest.Start(t)
	c := must.Get(runtimeclient.New(must.Get(clientcmd.RESTConfigFromKubeConfig(base.Kubeconfig()))(t), runtimeclient.Options{}))(t)
	must.Succeed(t, c.Create(t.Context(), caSecret(ca)))
	for n := range configurations {
		must.Succeed(t, c.Create(t.Context(), webhookConfiguration(fmt.Sprint("w", n), ca)))
	}
	return base, ca
}

// TestCAInjector rotates a CA twice under each fault. The controller must update all webhooks with
// few writes and then write nothing, even after a restart.
func TestCAInjector(t *testing.T) {
	t.Parallel()
	base, _ := newInjectorBase(t)
	onWebhooks := []string{onConfiguration}
	for name, c := range map[string]struct {
		fault troupetest.Fault
		none  bool // the controller makes no such request
	}{
		"conflicts":          {fault: troupetest.Fault{Effect: "Conflict", Verbs: []string{"patch"}, Count: 15}},
		"too many requests":  {fault: troupetest.Fault{Effect: "TooManyRequests", Count: 3}},
		"unavailable":        {fault: troupetest.Fault{Effect: "ServiceUnavailable", Verbs: []string{"get", "patch"}, Count: 15}},
		"timeout":            {fault: troupetest.Fault{Effect: "Timeout", Verbs: []string{"get"}, Count: 15}},
		"error after commit": {fault: troupetest.Fault{Effect: "InternalError", Verbs: []string{"patch"}, AfterCommit: true, Count: 15}},
		"lost response":      {fault: troupetest.Fault{Effect: "Drop", Verbs: []string{"patch"}, AfterCommit: true, Count: 15}},
		"lost requests":      {fault: troupetest.Fault{Effect: "Drop", Verbs: []string{"get", "patch"}, Count: 15}},
		"half of all writes": {fault: troupetest.Fault{Effect: "InternalError", Verbs: []string{"patch"}, Probability: 0.5}},
		"slow writes":        {fault: troupetest.Fault{Effect: "Delay", Verbs: []string{"patch"}, LatencyMilliseconds: 20}},
		"watches end":        {fault: troupetest.Fault{Effect: "EndWatch", Resources: onWebhooks, Events: 15, Count: 3}},
		"watches expire":     {fault: troupetest.Fault{Effect: "ExpireWatch", Resources: onWebhooks, Events: 15, Count: 3}},
		"watches break":      {fault: troupetest.Fault{Effect: "Drop", Verbs: []string{"watch"}, Events: 15, Count: 3}},
		"stale reads":        {fault: troupetest.Fault{Effect: "Stale", Versions: 3}, none: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := newInjector(t, base)
			stop := i.run(c.fault)
			i.ExpectSettled(t, 2, func(ctx context.Context) {
				for range 2 {
					i.rotate(ctx, newCA(t))
				}
			}, troupetest.ByManagers(injectorAgent))
			counts := i.FaultCounts()
			t.Logf("%d writes, faults and writes without: %+v", i.written, counts)
			if (counts[0].Injected == 0) != c.none {
				t.Errorf("%d faults were injected into %d requests", counts[0].Injected, counts[0].Matched)
			}

			stop()
			i.ExpectNoWrites(t, func() {
				defer i.run()()
				i.awaitReconciled()
			}, troupetest.ByManagers(injectorAgent))
		})
	}
}

// TestCAInjectorRestart rotates the CA after restarts of the server.
func TestCAInjectorRestart(t *testing.T) {
	t.Parallel()
	base, _ := newInjectorBase(t)
	i := newInjector(t, base)
	i.run()
	for range 3 {
		i.Restart(t)
		i.rotate(t.Context(), newCA(t))
	}
}

// TestCAInjectorStaleCache demonstrates a lost update. The controller extends the bundle from its
// cache, and applies it without a resourceVersion. While its watch of webhooks is down, each
// rotation replaces the CA of the previous one.
func TestCAInjectorStaleCache(t *testing.T) {
	t.Parallel()
	base, first := newInjectorBase(t)
	i := newInjector(t, base)
	i.run()
	i.awaitReconciled() // the cache then contains the first CA
	i.setFaults(troupetest.Fault{Effect: "ServiceUnavailable", Verbs: []string{"list", "watch"}, Resources: []string{onConfiguration}})
	i.Restart(t)
	second, third := newCA(t), newCA(t)
	i.rotate(t.Context(), second)
	i.rotate(t.Context(), third)
	for name, bundle := range i.bundles {
		if bundle != first+third {
			t.Errorf("the bundle of %s is not the first and the third CA (second: %v):\n%s", name, strings.Contains(bundle, second), bundle)
		}
	}
}

// A report is a testing.TB that records errors.
type report struct {
	testing.TB
	text string
}

func (r *report) Errorf(format string, args ...any) { r.text += fmt.Sprintf(format, args...) }

// TestCAInjectorFight checks that competing writes to the bundle are reported. The other writer
// acts like a tool that keeps restoring the object from its chart.
func TestCAInjectorFight(t *testing.T) {
	t.Parallel()
	base, first := newInjectorBase(t)
	i := newInjector(t, base)
	i.run()
	i.rotate(t.Context(), newCA(t))
	r := &report{TB: t}
	i.ExpectSettled(r, 100, func(ctx context.Context) {
		for ctx.Err() == nil {
			must.Succeed(t, i.client.Patch(t.Context(), webhookConfiguration("w0", first), runtimeclient.Merge, runtimeclient.FieldOwner("deployer")))
			for i.changes.Next(t.Context()).Manager != injectorAgent {
			}
		}
	})
	for _, part := range []string{onConfiguration + "/w0", "caBundle reverted", "by " + injectorAgent, "by deployer"} {
		if !strings.Contains(r.text, part) {
			t.Errorf("the report lacks %q: %s", part, r.text)
		}
	}
}
