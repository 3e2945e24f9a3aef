package clients

import (
	"context"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/troupe-api/troupe/test/client"
)

// candidate takes part in a leader election until ctx ends. When it becomes the leader, it sends
// its name to leads.
func candidate(ctx context.Context, c kubernetes.Interface, ns, name string, release bool, leads chan<- string) (stopped chan struct{}) {
	stopped = make(chan struct{})
	go func() {
		defer close(stopped)
		leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
			Lock: &resourcelock.LeaseLock{
				LeaseMeta: metav1.ObjectMeta{Namespace: ns, Name: "leader"}, Client: c.CoordinationV1(),
				LockConfig: resourcelock.ResourceLockConfig{Identity: name},
			},
			LeaseDuration: time.Hour, RenewDeadline: time.Hour / 2, RetryPeriod: 100 * time.Millisecond,
			ReleaseOnCancel: release,
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: func(context.Context) { leads <- name },
				OnStoppedLeading: func() {},
			},
		})
	}()
	return stopped
}

// TestLeader checks that another candidate becomes the leader when the lease is released or
// expires.
func TestLeader(t *testing.T) {
	t.Parallel()
	for _, release := range []bool{true, false} {
		each(t, func(t *testing.T, c kubernetes.Interface, ns string) {
			leads := make(chan string, 10)
			contexts, cancels := map[string]context.Context{}, map[string]func(){}
			stopped := map[string]chan struct{}{}
			for _, name := range []string{"one", "two"} {
				contexts[name], cancels[name] = context.WithCancel(t.Context())
				stopped[name] = candidate(contexts[name], c, ns, name, release, leads)
			}
			defer func() {
				for name, cancel := range cancels {
					cancel()
					<-stopped[name]
				}
			}()
			first := wins(t, leads)
			lease := must1(c.CoordinationV1().Leases(ns).Get(t.Context(), "leader", metav1.GetOptions{}))(t)
			if *lease.Spec.HolderIdentity != first || *lease.Spec.LeaseTransitions != 0 {
				t.Errorf("%s leads, the lease is %s", first, show(lease))
			}
			cancels[first]()
			<-stopped[first]
			lease = must1(c.CoordinationV1().Leases(ns).Get(t.Context(), "leader", metav1.GetOptions{}))(t)
			if holder := lease.Spec.HolderIdentity; holder != nil && *holder == first {
				// The lease was not released, possibly because a renewal was in progress. Shorten
				// it only now, because a slow leader would lose a short lease.
				const soon = `{"spec":{"leaseDurationSeconds":1}}`
				must1(c.CoordinationV1().Leases(ns).Patch(t.Context(), "leader", types.MergePatchType, []byte(soon), metav1.PatchOptions{}))(t)
			}
			if second := wins(t, leads); second == first {
				t.Errorf("%s leads again", first)
			}
			lease = must1(c.CoordinationV1().Leases(ns).Get(t.Context(), "leader", metav1.GetOptions{}))(t)
			if *lease.Spec.HolderIdentity == first || *lease.Spec.LeaseTransitions == 0 {
				t.Errorf("%s led, the lease is %s", first, show(lease))
			}
		})
	}
}

func wins(t *testing.T, leads <-chan string) string {
	t.Helper()
	select {
	case name := <-leads:
		return name
	case <-time.After(client.Watchdog):
		t.Fatal("no leader was elected")
		return ""
	}
}
