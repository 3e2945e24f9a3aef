package controllers

import (
	"context"
	"log/slog"
	"sync"
	"testing"

	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/persist/vfs"
)

// runProtections runs both protections until stop.
func (w *testStore) runProtections() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var wait sync.WaitGroup
	for _, p := range []*Protection{
		NewVolumeClaimProtection(w, w.kinds, slog.New(slog.DiscardHandler)), NewVolumeProtection(w, w.kinds, slog.New(slog.DiscardHandler)),
	} {
		wait.Go(func() { p.Run(ctx) })
	}
	return func() { cancel(); wait.Wait() }
}

// watchDeletions tells of the deletion of the objects of a kind.
func (w *testStore) watchDeletions(resource string) *eventLines {
	w.t.Helper()
	n := &eventLines{lines: make(chan string, 16), done: make(chan struct{})}
	session, err := w.Watch(context.Background(), request.Watch{Kind: w.kind(resource)}, n)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(session.Stop)
	return n
}

func (w *testStore) createWith(path string, body tree.Tree) {
	w.t.Helper()
	_, key := w.key(path)
	body["metadata"] = tree.Tree{"name": key.Name, "finalizers": body["finalizers"]}
	delete(body, "finalizers")
	w.mutate(path, request.Mutation{Verb: request.Create, Object: body})
}

const claims, volumes, pods = "persistentvolumeclaims", "persistentvolumes", "pods"

func claimObject() tree.Tree {
	return tree.Tree{"finalizers": []any{"platform.io/pvc-protection"}, "spec": tree.Tree{
		"accessModes": []any{"ReadWriteOnce"}, "resources": tree.Tree{"requests": tree.Tree{"storage": "1Gi"}},
	}}
}

// A claim that is deleted goes when the last Pod that has a node and uses it has gone.
func TestClaimWaitsForPods(t *testing.T) {
	w := openTestStore(t, vfs.NewMem())
	defer w.close()
	for _, name := range []string{"data", "pod-own", "free"} {
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
	pod("pod", "n1", tree.Tree{"ephemeral": tree.Tree{"volumeClaimTemplate": tree.Tree{"spec": claimObject()["spec"]}}})
	defer w.runProtections()()
	n := w.watchDeletions(claims)
	expect := func(want string) {
		t.Helper()
		for {
			if line := <-n.lines; line == want {
				return
			} else if line == "data has gone" || line == "pod-own has gone" {
				t.Fatalf("%s, too early: want %s", line, want)
			}
		}
	}
	for _, name := range []string{"data", "pod-own", "free"} {
		w.delete(claims + "/default/" + name)
	}
	expect("free has gone")
	w.delete(pods + "/default/user")
	expect("data has gone")
	w.delete(pods + "/default/pod")
	expect("pod-own has gone")
}

// A volume that is deleted goes when it is not bound, be that so from the start or later.
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
		w.mutate(volumes+"/"+name, request.Mutation{Verb: request.Patch, Subresource: "status",
			PatchType: request.MergePatch, PatchBody: []byte(`{"status":{"phase":"` + phase + `"}}`)})
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
