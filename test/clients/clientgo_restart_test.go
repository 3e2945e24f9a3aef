package clients

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientfeatures "k8s.io/client-go/features"
	clientfeaturestesting "k8s.io/client-go/features/testing"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/troupe-api/troupe/test/client"
)

const (
	writers      = 4
	names        = 8 // per writer
	marker       = "marker"
	missedWrites = 300 // more than the 128 events of a history chunk
)

// A follower is a running informer and the resource versions that its event handlers have observed.
type follower struct {
	name     string
	informer cache.SharedIndexInformer
	list     func(context.Context) (runtime.Object, error)
	traffic  Traffic

	mu       sync.Mutex
	observed map[string]string // resource versions by key
	faults   []string
}

// TestKilledInformer checks that informers stay consistent with a list while the daemon is killed
// and restarted under write load. Unless the watch history expires, an informer reads all objects
// only once. If it expires, an informer reads all objects after each restart.
func TestKilledInformer(t *testing.T) {
	t.Parallel()
	ownClientGoFeatures(t)
	dir := t.TempDir()
	for _, c := range []struct {
		name, settings string
		kills          int
		forgets        bool // whether the watch history has expired when followers reconnect
	}{
		{"remembered", "{}", 8, false},
		{"forgotten", "watch-history-time: 1ms\nwatch-history-bytes: 1", 2, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			settings := filepath.Join(dir, c.name+".yaml")
			mustClientGo(t, os.WriteFile(settings, []byte(c.settings), 0o600))
			for _, f := range killed(t, settings, c.kills, c.forgets) {
				watches, all := len(f.traffic.With("watch=true")), len(f.traffic.With(""))
				streams := len(f.traffic.With("sendInitialEvents=true"))
				t.Logf("%s: %d watches, %d of them of the state, %d lists", f.name, watches, streams, all-watches)
				// Subtract the test's own list request, which reads the list to compare.
				if state := streams + all - watches - 1; state < 1 || c.forgets && state <= c.kills || !c.forgets && state > 1 {
					t.Errorf("%s: the state was read %d times", f.name, state)
				}
			}
		})
	}
}

// killed starts a server with followers, kills and restarts it repeatedly, and checks the
// followers' caches. If late is set, followers reconnect only after the watch history has expired.
func killed(t *testing.T, settings string, kills int, late bool) []*follower {
	data := filepath.Join(t.TempDir(), "data")
	p := serve(t, data, "kubernetes", "0", "--config", settings)
	config := func(media string) *rest.Config {
		c := configOf(t, p.Kubeconfig, media)
		c.Dial = dialRetrying
		return c
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	var door dialGate
	followers := startFollowers(ctx, t, &running, func(media string) *rest.Config {
		c := config(media)
		c.Dial = door.dial
		return c
	})
	maps := must1(kubernetes.NewForConfig(config(asProtobuf)))(t).CoreV1().ConfigMaps("default")
	var acknowledged client.Tally
	writing, stop := context.WithCancel(ctx)
	defer stop()
	var writes sync.WaitGroup
	for i := range writers {
		writes.Go(func() { writeClientGo(writing, maps, i, &acknowledged) })
	}
	random := rand.New(rand.NewPCG(client.Seed(t, 1), 0))
	for i := range kills {
		waitCaughtUp(t, maps, followers, i)
		client.Receive(t, acknowledged.After(1+random.IntN(100)), "the load before a kill")
		door.closed.Store(late)
		p.Kill()
		p = serve(t, data, "kubernetes", p.Port(), "--config", settings)
		if late {
			expireHistory(t, maps)
		}
		door.closed.Store(false)
	}
	stop()
	writes.Wait()
	waitCaughtUp(t, maps, followers, kills)
	for _, f := range followers {
		waitInSync(t, f.informer, f.list)
		f.checkCache(t)
	}
	if acknowledged.Count() < kills {
		t.Errorf("only %d writes were acknowledged", acknowledged.Count())
	}
	t.Logf("%d kills, %d writes", kills, acknowledged.Count())
	return followers
}

// dialRetrying retries refused connections. Otherwise, client-go's backoff would grow while the
// port is closed.
func dialRetrying(ctx context.Context, network, address string) (conn net.Conn, err error) {
	var dialer net.Dialer
	client.Poll(func() bool {
		conn, err = dialer.DialContext(ctx, network, address)
		return !errors.Is(err, syscall.ECONNREFUSED)
	})
	return conn, err
}

// expireHistory writes objects until the watch history no longer contains the current version.
func expireHistory(t *testing.T, maps typedcorev1.ConfigMapInterface) {
	t.Helper()
	before := must1(maps.List(t.Context(), metav1.ListOptions{Limit: 1}))(t)
	for n := range missedWrites {
		mustClientGo(t, put(t.Context(), maps, "missed", before.ResourceVersion+"/"+strconv.Itoa(n)))
	}
	then := metav1.ListOptions{ResourceVersion: before.ResourceVersion, Limit: 1}
	eventually(t, "the previous state has expired", func(ctx context.Context) (bool, error) {
		_, err := maps.List(ctx, then)
		return apierrors.IsResourceExpired(err), nil
	}, nil)
}

type dialGate struct{ closed atomic.Bool }

func (d *dialGate) dial(ctx context.Context, network, address string) (net.Conn, error) {
	client.Poll(func() bool { return !d.closed.Load() || ctx.Err() != nil })
	return dialRetrying(ctx, network, address)
}

// startFollowers starts an informer of each kind, with and without streamed initial events.
func startFollowers(ctx context.Context, t *testing.T, running *sync.WaitGroup, config func(media string) *rest.Config) (all []*follower) {
	for _, streamed := range []bool{true, false} {
		t.Run(fmt.Sprintf("streamed=%t", streamed), func(t *testing.T) {
			clientfeaturestesting.SetFeatureDuringTest(t, clientfeatures.WatchListClient, streamed)
			for name, k := range informerKinds {
				f := &follower{name: fmt.Sprintf("%s, streamed %t", name, streamed), observed: map[string]string{}}
				f.informer, f.list = k.make(t, f.traffic.Of(config(k.media)), "default")
				must1(f.informer.AddEventHandler(f))(t)
				running.Go(func() { f.informer.RunWithContext(ctx) })
				eventually(t, f.name+" is synced", func(context.Context) (bool, error) { return f.informer.HasSynced(), nil }, nil)
				all = append(all, f)
			}
		})
	}
	return all
}

// waitCaughtUp writes the marker object and waits until each follower has it in the cache.
func waitCaughtUp(t *testing.T, maps typedcorev1.ConfigMapInterface, followers []*follower, n int) {
	t.Helper()
	eventually(t, "the marker is written", func(ctx context.Context) (bool, error) {
		return put(ctx, maps, marker, strconv.Itoa(n)) == nil, nil
	}, nil)
	version := must1(maps.Get(t.Context(), marker, metav1.GetOptions{}))(t).ResourceVersion
	for _, f := range followers {
		eventually(t, fmt.Sprintf("%s knows marker %d", f.name, n), func(context.Context) (bool, error) {
			o, found, err := f.informer.GetStore().GetByKey("default/" + marker)
			return found && versionOf(o) == version, err
		}, func() string { return fmt.Sprint(f.traffic.With("")) })
	}
}

func put(ctx context.Context, maps typedcorev1.ConfigMapInterface, name, value string) error {
	patch := fmt.Appendf(nil, `{"data":{"value":%q}}`, value)
	if _, err := maps.Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{}); err == nil {
		return nil
	}
	_, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: named(name), Data: map[string]string{"value": value}}, metav1.CreateOptions{})
	return err
}

// writeClientGo writes and deletes its own objects until ctx ends. It ignores errors.
func writeClientGo(ctx context.Context, maps typedcorev1.ConfigMapInterface, writer int, acknowledged *client.Tally) {
	random := rand.New(rand.NewPCG(2, uint64(writer)))
	for i := 0; ctx.Err() == nil; i++ {
		name := fmt.Sprintf("w%d-%d", writer, random.IntN(names))
		var err error
		if random.IntN(4) == 0 {
			err = maps.Delete(ctx, name, metav1.DeleteOptions{})
		} else {
			err = put(ctx, maps, name, strconv.Itoa(i))
		}
		if err == nil {
			acknowledged.Add()
		}
	}
}

func versionOf(o any) string {
	head, err := meta.Accessor(o)
	if err != nil {
		return ""
	}
	return head.GetResourceVersion()
}

// observe records an object's resource version or deletion. It records a fault if the version
// decreases.
func (f *follower) observe(o any, gone bool) {
	key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(o)
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil {
		f.faults = append(f.faults, err.Error())
		return
	}
	if gone {
		delete(f.observed, key)
		return
	}
	before, _ := strconv.ParseUint(f.observed[key], 10, 64) // 0 if it did not exist
	if now, err := strconv.ParseUint(versionOf(o), 10, 64); err != nil || now < before {
		f.faults = append(f.faults, fmt.Sprintf("%s went from version %d to %s", key, before, versionOf(o)))
	}
	f.observed[key] = versionOf(o)
}

func (f *follower) OnAdd(o any, _ bool) { f.observe(o, false) }

func (f *follower) OnUpdate(_, o any) { f.observe(o, false) }

func (f *follower) OnDelete(o any) { f.observe(o, true) }

// checkCache checks that the event handlers have observed the content of the cache. It also reports
// the recorded faults.
func (f *follower) checkCache(t *testing.T) {
	t.Helper()
	eventually(t, f.name+": the handlers know the cache", func(context.Context) (bool, error) {
		f.mu.Lock()
		defer f.mu.Unlock()
		cached := f.informer.GetStore().List()
		for _, o := range cached {
			if key, err := cache.MetaNamespaceKeyFunc(o); err != nil || f.observed[key] != versionOf(o) {
				return false, err
			}
		}
		return len(cached) == len(f.observed), nil
	}, nil)
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, fault := range f.faults {
		t.Errorf("%s: %s", f.name, fault)
	}
}
