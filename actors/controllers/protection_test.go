package controllers

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/persist/vfs"
)

func (w *testStore) runProtections() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var wait sync.WaitGroup
	for _, p := range []*Protection{
		NewVolumeClaimProtection(NewEnv(w, w.kinds, slog.New(slog.DiscardHandler))), NewVolumeProtection(NewEnv(w, w.kinds, slog.New(slog.DiscardHandler))),
	} {
		wait.Go(func() { p.Run(ctx) })
	}
	return func() { cancel(); wait.Wait() }
}

// watchDeletions reports the deletions of a resource's objects.
func (w *testStore) watchDeletions(resource string) *eventLines {
	w.t.Helper()
	n := &eventLines{lines: make(chan string, 16), done: make(chan struct{})}
	session := must.Get(w.Watch(context.Background(), request.Watch{Kind: w.kind(resource)}, n))(w.t)
	w.t.Cleanup(session.Stop)
	return n
}

func (w *testStore) createWith(path string, body tree.Tree) {
	w.t.Helper()
	_, key := w.key(path)
	body["metadata"] = tree.Tree{"name": key.Name, "finalizers": body["finalizers"], "ownerReferences": body["ownerReferences"]}
	delete(body, "finalizers")
	delete(body, "ownerReferences")
	w.mutate(path, request.Mutation{Change: request.Create{Object: body}})
}

const claims, volumes, pods = "persistentvolumeclaims", "persistentvolumes", "pods"

func claimObject() tree.Tree {
	return tree.Tree{"finalizers": []any{"platform.io/pvc-protection"}, "spec": tree.Tree{
		"accessModes": []any{"ReadWriteOnce"}, "resources": tree.Tree{"requests": tree.Tree{"storage": "1Gi"}},
	}}
}

// TestClaimWaitsForPods checks that a claim goes after the last scheduled Pod that uses it.
func TestClaimWaitsForPods(t *testing.T) {
	w := openTestStore(t, vfs.NewMem())
	defer w.close()
	for _, name := range []string{"data", "free", "done-own"} {
		w.createWith(claims+"/default/"+name, claimObject())
	}
	pod := func(name, node string, volume tree.Tree) {
		volume["name"] = "own"
		spec := tree.Tree{
			"containers": []any{tree.Tree{"name": "c", "image": "i"}}, "volumes": []any{volume},
			"restartPolicy": "Always", "dnsPolicy": "ClusterFirst", "terminationGracePeriodSeconds": int64(0),
			"enableServiceLinks": true, "schedulerName": "default-scheduler", "securityContext": tree.Tree{},
		}
		containers := spec["containers"].([]any)[0].(tree.Tree)
		containers["imagePullPolicy"], containers["terminationMessagePath"], containers["terminationMessagePolicy"] = "Always", "/dev/log", "File"
		if node != "" {
			spec["nodeName"] = node
		}
		w.createWith(pods+"/default/"+name, tree.Tree{"spec": spec})
	}
	pod("user", "n1", tree.Tree{"persistentVolumeClaim": tree.Tree{"claimName": "data"}})
	pod("unscheduled", "", tree.Tree{"persistentVolumeClaim": tree.Tree{"claimName": "free"}})
	ephemeral := func() tree.Tree {
		return tree.Tree{"ephemeral": tree.Tree{"volumeClaimTemplate": tree.Tree{"spec": claimObject()["spec"]}}}
	}
	pod("pod", "n1", ephemeral())
	pod("done", "n1", ephemeral()) // does not control the claim of that name
	own := claimObject()
	controls := ownerReference(w.get(pods+"/default/pod"), "Pod", false)
	controls["controller"] = true
	own["ownerReferences"] = []any{controls}
	w.createWith(claims+"/default/pod-own", own)
	defer w.runProtections()()
	n := w.watchDeletions(claims)
	// expect waits until claims are gone, in any order, because the workers run in parallel.
	expect := func(names ...string) {
		t.Helper()
		for len(names) > 0 {
			name, gone := strings.CutSuffix(<-n.lines, " has gone")
			i := slices.Index(names, name)
			switch {
			case gone && i < 0:
				t.Fatalf("%s has gone, too early: want %q", name, names)
			case gone:
				names = slices.Delete(names, i, i+1)
			}
		}
	}
	for _, name := range []string{"data", "pod-own", "free", "done-own"} {
		w.delete(claims + "/default/" + name)
	}
	expect("free", "done-own")
	w.delete(pods + "/default/user")
	expect("data")
	w.delete(pods + "/default/pod")
	expect("pod-own")
}

// TestVolumeWaitsForItsClaim checks that a deleted volume goes once it is unbound.
func TestVolumeWaitsForItsClaim(t *testing.T) {
	w := openTestStore(t, vfs.NewMem())
	defer w.close()
	volume := func(name string) {
		w.createWith(volumes+"/"+name, tree.Tree{"finalizers": []any{"platform.io/pv-protection"}, "spec": tree.Tree{
			"capacity": tree.Tree{"storage": "1Gi"}, "accessModes": []any{"ReadWriteOnce"}, "hostPath": tree.Tree{"path": "/x", "type": ""},
			"persistentVolumeReclaimPolicy": "Retain", "volumeMode": "Filesystem",
		}})
	}
	phase := func(name, phase string) {
		w.mutate(volumes+"/"+name, request.Mutation{Subresource: "status",
			Change: request.Patch{Type: request.MergePatch, Body: []byte(`{"status":{"phase":"` + phase + `"}}`)}})
	}
	volume("free")
	volume("bound")
	phase("bound", "Bound")
	defer w.runProtections()()
	n := w.watchDeletions(volumes)
	w.delete(volumes + "/bound")
	w.delete(volumes + "/free")
	for _, want := range []string{"bound terminates", "free terminates", "free has gone"} {
		if line := <-n.lines; line != want {
			t.Fatalf("%s, want %s", line, want)
		}
	}
	phase("bound", "Released")
	for want := "bound has gone"; ; {
		if line := <-n.lines; line == want {
			return
		}
	}
}

// TestUnprotectedObjectsGetFinalizers checks that objects get the finalizer unless terminating.
func TestUnprotectedObjectsGetFinalizers(t *testing.T) {
	w := openTestStore(t, vfs.NewMem())
	defer w.close()
	claim := claimObject()
	delete(claim, "finalizers")
	w.createWith(claims+"/default/old", claim)
	going := claimObject()
	going["finalizers"] = []any{"example.com/hold"}
	w.createWith(claims+"/default/going", going)
	w.delete(claims + "/default/going")
	w.createWith(volumes+"/old", tree.Tree{"spec": tree.Tree{
		"capacity": tree.Tree{"storage": "1Gi"}, "accessModes": []any{"ReadWriteOnce"}, "hostPath": tree.Tree{"path": "/x", "type": ""},
		"persistentVolumeReclaimPolicy": "Retain", "volumeMode": "Filesystem",
	}})
	defer w.runProtections()()
	w.waitUntil("both are protected", func() bool {
		return slices.Equal(w.get(claims+"/default/old").Meta.Finalizers, []string{"platform.io/pvc-protection"}) &&
			slices.Equal(w.get(volumes+"/old").Meta.Finalizers, []string{"platform.io/pv-protection"})
	})
	if got := w.get(claims + "/default/going").Meta.Finalizers; !slices.Equal(got, []string{"example.com/hold"}) {
		t.Errorf("a claim that is being deleted has %q", got)
	}
}

// TestPodUsesClaim checks that a Pod uses its ephemeral claim until it is shut down, and a named
// one while it exists.
func TestPodUsesClaim(t *testing.T) {
	t.Parallel()
	claim := &meta.Object{Key: meta.Key{Name: "p-v"}, Meta: meta.ObjectMeta{OwnerReferences: []meta.OwnerReference{{UID: "u", Controller: true}}}}
	for _, c := range []struct {
		metadata, volume tree.Tree
		want             bool
	}{
		{tree.Tree{"uid": "u"}, tree.Tree{"ephemeral": tree.Tree{}}, true},
		{tree.Tree{"uid": "another"}, tree.Tree{"ephemeral": tree.Tree{}}, false},
		{tree.Tree{"uid": "u", "deletionTimestamp": "t", "deletionGracePeriodSeconds": int64(30)}, tree.Tree{"ephemeral": tree.Tree{}}, true},
		{tree.Tree{"uid": "u", "deletionTimestamp": "t", "deletionGracePeriodSeconds": int64(0)}, tree.Tree{"ephemeral": tree.Tree{}}, false},
		{tree.Tree{"uid": "u", "deletionTimestamp": "t", "deletionGracePeriodSeconds": int64(0)}, tree.Tree{"persistentVolumeClaim": tree.Tree{"claimName": "p-v"}}, true},
		{tree.Tree{"uid": "u"}, tree.Tree{"persistentVolumeClaim": tree.Tree{"claimName": "other"}}, false},
	} {
		c.metadata["name"], c.volume["name"] = "p", "v"
		if got := podUsesClaim(tree.Tree{"metadata": c.metadata, "spec": tree.Tree{"volumes": []any{c.volume}}}, claim); got != c.want {
			t.Errorf("%v %v: %v", c.metadata, c.volume, got)
		}
	}
}
