package clients

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/record"
	ctrl "sigs.k8s.io/controller-runtime"
	runtimeclient "sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/troupe-api/troupe/cmd/troupe/troupetest"
	"github.com/troupe-api/troupe/test/client"
)

// recordedTeam is an environment variable for a child process of TestRecordManager. The process
// then runs a team manager for the team in the variable.
const recordedTeam = "TROUPE_TEST_RECORDED_TEAM"

// A teamReconciler labels namespaces with a team. In each, it creates and deletes a ConfigMap with
// a generated name. It stops its manager when the namespace stop exists.
type teamReconciler struct {
	runtimeclient.Client
	record.EventRecorder
	team string
	stop func()
}

func (r teamReconciler) Reconcile(ctx context.Context, q ctrl.Request) (ctrl.Result, error) {
	n := &corev1.Namespace{}
	if err := r.Get(ctx, q.NamespacedName, n); err != nil {
		return ctrl.Result{}, runtimeclient.IgnoreNotFound(err)
	}
	switch {
	case n.Name == "stop":
		r.stop()
		return ctrl.Result{}, nil
	case n.Labels["wanted"] != "team" || n.Labels["team"] != "":
		return ctrl.Result{}, nil
	}
	settings := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "settings-", Namespace: n.Name}, Data: map[string]string{"at": metav1.Now().UTC().Format("2006-01-02T15:04:05Z")}}
	if err := r.Create(ctx, settings); err != nil {
		return ctrl.Result{}, err
	}
	if err := r.Delete(ctx, settings, runtimeclient.PropagationPolicy(metav1.DeletePropagationBackground)); err != nil {
		return ctrl.Result{}, err
	}
	n.Labels["team"] = r.team
	r.Eventf(n, corev1.EventTypeNormal, "Labelled", "team %s", r.team)
	return ctrl.Result{}, r.Update(ctx, n)
}

// runTeamManager runs a manager with leader election, which uses Protobuf for these kinds.
func runTeamManager(team string) error {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	manager, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{
		Metrics: server.Options{BindAddress: "0"}, Logger: logr.Discard(), LeaderElection: true, LeaderElectionID: "teams", LeaderElectionNamespace: "default",
		LeaderElectionReleaseOnCancel: true,
	})
	if err != nil {
		return err
	}
	r := teamReconciler{manager.GetClient(), manager.GetEventRecorderFor("teams"), team, stop}
	if err := ctrl.NewControllerManagedBy(manager).For(&corev1.Namespace{}).Complete(r); err != nil {
		return err
	}
	return manager.Start(ctx)
}

// TestRecordManager records a controller-runtime manager, and replays the recording to the same
// build and to one with another team.
func TestRecordManager(t *testing.T) {
	t.Parallel()
	p := newPlace(t, troupetest.Kubernetes)
	namespace := func(name string) {
		p.Send(201, "POST", "/api/v1/namespaces", client.JSON, `{"metadata":{"name":"`+name+`","labels":{"wanted":"team"}}}`)
	}
	namespace("first")
	controller := func(team string) []string { return []string{"--", "env", recordedTeam + "=" + team, os.Args[0]} }
	recorder := p.command(append([]string{"record", "-o", "teams.recording"}, controller("blue")...)...)
	if err := recorder.Start(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"first", "second"} {
		client.Eventually(t, func() error {
			if labels := fmt.Sprint(p.Send(200, "GET", "/api/v1/namespaces/"+name, "", "").Object()["metadata"]); !strings.Contains(labels, "team:blue") {
				return fmt.Errorf("the labels are %s", labels)
			}
			return nil
		})
		namespace(map[string]string{"first": "second", "second": "stop"}[name])
	}
	if err := recorder.Wait(); err != nil {
		t.Fatal(err)
	}
	p.expect(0, "objects: 6, errors: 0, warnings: 0\n", append([]string{"replay", "teams.recording", "--idle", "1h"}, controller("blue")...)...)
	out, code := p.run(append([]string{"replay", "teams.recording", "--idle", "1h"}, controller("green")...)...)
	if code != 1 || strings.Count(out, "\n+    team: green\n") != 2 || !strings.Contains(out, "errors: 2,") {
		t.Errorf("another build: exit code %d, %s", code, out)
	}
}
