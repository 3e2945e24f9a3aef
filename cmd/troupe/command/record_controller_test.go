package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/document"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/rest"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/kubeconfig"
)

// TestMain runs a build of the test's controller, or another command, instead of the tests.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) > 2 && os.Args[1] == "controller":
		os.Exit(runController(os.Args[2]))
	case len(os.Args) > 2 && os.Args[1] == "troupe":
		os.Exit(Main(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// A controller copies each ConfigMap and the Secret login in the namespace shop. For a Widget, it
// adds a finalizer, writes the status, and creates a ConfigMap with a generated name, which it
// deletes once that ConfigMap is marked as done. It ends when the ConfigMap stop exists.
type controller struct {
	*rest.Client
	build string // how this build behaves differently
}

func runController(build string) int {
	switch build {
	case "idle":
		return 0
	case "hanging":
		signals := make(chan os.Signal, 1)
		signal.Notify(signals, syscall.SIGTERM)
		<-signals
		return 0
	}
	config, err := kubeconfig.Load(os.Getenv("KUBECONFIG"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 4
	}
	c := controller{rest.New(config, rest.Options{Agent: "copier", Warnings: io.Discard}), build}
	if err := c.run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "controller:", err)
		return 3
	}
	return 0
}

const shop = "/api/v1/namespaces/shop/"

func (c *controller) run(ctx context.Context) error {
	secret, err := c.Get(ctx, shop+"secrets/login", nil)
	if err != nil {
		return err
	}
	if err := c.send(ctx, "POST", shop+"secrets", tree.Tree{"metadata": tree.Tree{"name": "login-copy"}, "data": secret["data"]}); err != nil {
		return err
	}
	// Only the recorded server has the LimitRange, which the controller does not read.
	err = c.send(ctx, "POST", shop+"persistentvolumeclaims", tree.Tree{"metadata": tree.Tree{"name": "large"}, "spec": tree.Tree{
		"accessModes": []any{"ReadWriteOnce"}, "resources": tree.Tree{"requests": tree.Tree{"storage": "2Gi"}},
	}})
	if err != nil && !rest.HasCode(err, http.StatusForbidden) {
		return err
	}
	type event struct {
		kind   string
		object tree.Tree
	}
	events := make(chan event, 100)
	for _, path := range []string{shop + "configmaps", "/apis/example.com/v1/namespaces/shop/widgets"} {
		list, err := c.Get(ctx, path, nil)
		if err != nil {
			return err
		}
		for _, item := range list.Objects("items") {
			events <- event{"ADDED", item}
		}
		from := url.Values{"watch": {"1"}, "resourceVersion": {list.Object("metadata").String("resourceVersion")}}
		go func() {
			c.Watch(ctx, path, from, "", func(e rest.Event) error {
				object, err := document.Parse(e.Object)
				events <- event{e.Type, object}
				return err
			})
			events <- event{kind: "END"}
		}()
	}
	for e := range events {
		if e.kind == "END" {
			return errors.New("a watch has ended")
		}
		reconcile := c.configMap
		if _, ok := e.object["spec"]; ok {
			reconcile = c.widget
		}
		if e.object.Name() == "stop" {
			return nil
		}
		if err := reconcile(ctx, e.kind, e.object); err != nil {
			return fmt.Errorf("%s %s: %w", e.kind, e.object.Name(), err)
		}
	}
	return nil
}

func (c *controller) configMap(ctx context.Context, event string, o tree.Tree) error {
	name, labels := o.Name(), o.Labels()
	path := shop + "configmaps/" + name
	switch {
	case labels.Has("copy") || event == "DELETED" && labels.Has("run"):
		return nil
	case labels.Has("run"):
		if o.Object("data").Has("done") {
			return c.send(ctx, "DELETE", path, tree.Tree{"propagationPolicy": "Background"})
		}
		return nil
	case event == "DELETED":
		if c.build == "missing" {
			return nil
		}
		return c.send(ctx, "DELETE", path+"-copy", nil)
	}
	text := strings.ToUpper(o.Object("data").String("text"))
	if c.build == "different" {
		text += "!"
	}
	owner := tree.Tree{"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": o.Object("metadata")["uid"]}
	wanted := tree.Tree{
		"metadata": tree.Tree{"name": name + "-copy", "labels": tree.Tree{"copy": "true"}, "ownerReferences": []any{owner}}, "data": tree.Tree{"text": text},
	}
	live, err := c.Get(ctx, path+"-copy", nil)
	if rest.IsNotFound(err) {
		if c.build == "additional" {
			if err := c.send(ctx, "POST", shop+"configmaps", tree.Tree{"metadata": tree.Tree{"name": "extra", "labels": tree.Tree{"copy": "true"}}}); err != nil {
				return err
			}
		}
		if err := c.send(ctx, "POST", shop+"configmaps", wanted); err != nil || c.build != "failing" {
			return err
		}
		return fmt.Errorf("this build fails")
	}
	if err != nil {
		return err
	}
	if c.build != "calm" { // a conflict
		wanted.Object("metadata")["resourceVersion"] = "1"
		if err := c.send(ctx, "PUT", path+"-copy", wanted); !rest.IsConflict(err) {
			return fmt.Errorf("an update of an old version returned %v", err)
		}
	}
	wanted.Object("metadata")["resourceVersion"] = live.Object("metadata")["resourceVersion"]
	return c.send(ctx, "PUT", path+"-copy", wanted)
}

func (c *controller) widget(ctx context.Context, event string, o tree.Tree) error {
	metadata := o.Object("metadata")
	path, finalizers := "/apis/example.com/v1/namespaces/shop/widgets/"+o.Name(), metadata.List("finalizers")
	patch := func(finalizers any) error {
		body := document.JSON(tree.Tree{"metadata": tree.Tree{"finalizers": finalizers}})
		_, err := c.Do(ctx, rest.Request{Method: http.MethodPatch, Path: path, ContentType: rest.MergePatch, Body: body})
		return err
	}
	switch {
	case event == "DELETED":
		return nil
	case metadata.Has("deletionTimestamp"):
		return patch(nil)
	case len(finalizers) > 0:
		return nil
	}
	if err := patch([]any{"example.com/cleanup"}); err != nil {
		return err
	}
	live, err := c.Get(ctx, path, nil)
	if err != nil {
		return err
	}
	live["status"] = tree.Tree{"phase": "Ready", "since": time.Now().UTC().Format(time.RFC3339)}
	if err := c.send(ctx, "PUT", path+"/status", live); err != nil {
		return err
	}
	return c.send(ctx, "POST", shop+"configmaps", tree.Tree{"metadata": tree.Tree{"generateName": "run-", "labels": tree.Tree{"run": o.Name()}}})
}

func (c *controller) send(ctx context.Context, method, path string, body tree.Tree) error {
	r := rest.Request{Method: method, Path: path}
	if body != nil {
		r.Body = document.JSON(body)
	}
	_, err := c.Do(ctx, r)
	return err
}
