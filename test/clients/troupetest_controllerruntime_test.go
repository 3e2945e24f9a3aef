package clients

import (
	"context"
	"fmt"
	"testing"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	runtimeclient "sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/troupe-api/troupe/cmd/troupe/troupetest"
	"github.com/troupe-api/troupe/test/client"
)

// A labeller is a reconciler that adds the team label to namespaces.
type labeller struct{ runtimeclient.Client }

func (l labeller) Reconcile(ctx context.Context, r ctrl.Request) (ctrl.Result, error) {
	n := &corev1.Namespace{}
	if err := l.Get(ctx, r.NamespacedName, n); err != nil || n.Labels["team"] != "" {
		return ctrl.Result{}, runtimeclient.IgnoreNotFound(err)
	}
	n.Labels["team"] = "none"
	return ctrl.Result{}, l.Update(ctx, n)
}

// TestControllerRuntime is an example of a test that runs a controller in a manager.
func TestControllerRuntime(t *testing.T) {
	t.Parallel()
	api := troupetest.Start(t)
	config, err := clientcmd.RESTConfigFromKubeConfig(api.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	manager, err := ctrl.NewManager(config, ctrl.Options{Metrics: server.Options{BindAddress: "0"}, Logger: logr.Discard()})
	if err != nil {
		t.Fatal(err)
	}
	if err := ctrl.NewControllerManagedBy(manager).For(&corev1.Namespace{}).Complete(labeller{manager.GetClient()}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(ctx) }()
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()

	shop := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}
	if err := manager.GetClient().Create(ctx, shop); err != nil {
		t.Fatal(err)
	}
	client.Eventually(t, func() error {
		err := manager.GetAPIReader().Get(ctx, runtimeclient.ObjectKeyFromObject(shop), shop)
		if team := shop.Labels["team"]; err == nil && team != "none" {
			err = fmt.Errorf("the team is %q", team)
		}
		return err
	})
}
