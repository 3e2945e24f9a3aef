package clients

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	runtimeclient "sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/troupe-api/troupe/test/client"
)

func startEnvtest(t *testing.T, e *envtest.Environment) runtimeclient.Client {
	t.Helper()
	config, err := e.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Stop(); err != nil {
			t.Error(err)
		}
	})
	return newClientEnvtest(t, config)
}

func newClientEnvtest(t *testing.T, config *rest.Config) runtimeclient.Client {
	t.Helper()
	c, err := runtimeclient.New(config, runtimeclient.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func mustEnvtest(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func gone(t *testing.T, c runtimeclient.Client, o runtimeclient.Object) {
	t.Helper()
	client.Eventually(t, func() error {
		switch err := c.Get(t.Context(), runtimeclient.ObjectKeyFromObject(o), o); {
		case apierrors.IsNotFound(err):
			return nil
		case err != nil:
			return err
		}
		return fmt.Errorf("%s still exists", o.GetName())
	})
}

// TestEnvironment checks that a control plane supports CRDs, garbage collection, namespace deletion
// and additional users.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	e := &envtest.Environment{BinaryAssetsDirectory: assets.Get(t), CRDDirectoryPaths: []string{"testdata/envtest"}, ErrorIfCRDPathMissing: true}
	c := startEnvtest(t, e)
	ctx := t.Context()

	backup := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Backup",
		"metadata": map[string]any{"name": "nightly", "namespace": "default"}, "spec": map[string]any{"keep": int64(7)},
	}}
	mustEnvtest(t, c.Create(ctx, backup))

	shop := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}
	mustEnvtest(t, c.Create(ctx, shop))
	accounts := &corev1.ServiceAccountList{}
	if mustEnvtest(t, c.List(ctx, accounts)); len(accounts.Items) != 0 {
		t.Errorf("there are service accounts: %v", accounts.Items)
	}
	pod := corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}
	labels := map[string]string{"app": "web"}
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop"}, Spec: appsv1.DeploymentSpec{
		Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: pod},
	}}
	mustEnvtest(t, c.Create(ctx, deployment))
	owned := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web-1", Namespace: "shop", OwnerReferences: []metav1.OwnerReference{
		*metav1.NewControllerRef(deployment, appsv1.SchemeGroupVersion.WithKind("Deployment")),
	}}, Spec: pod}
	mustEnvtest(t, c.Create(ctx, owned))
	mustEnvtest(t, c.Delete(ctx, deployment, runtimeclient.PropagationPolicy(metav1.DeletePropagationForeground)))
	gone(t, c, owned)
	gone(t, c, deployment)
	mustEnvtest(t, c.Delete(ctx, shop))
	gone(t, c, shop)

	jane, err := e.AddUser(envtest.User{Name: "jane", Groups: []string{"developers"}}, nil)
	mustEnvtest(t, err)
	hers := newClientEnvtest(t, jane.Config())
	if err := hers.Get(ctx, runtimeclient.ObjectKeyFromObject(backup), backup); !apierrors.IsForbidden(err) {
		t.Errorf("without a role: %v", err)
	}
	mustEnvtest(t, c.Create(ctx, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "backups"}, Rules: []rbacv1.PolicyRule{{APIGroups: []string{"example.com"}, Resources: []string{"*"}, Verbs: []string{"*"}}}}))
	mustEnvtest(t, c.Create(ctx, &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "backups"},
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "backups"},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "Group", Name: "developers"}}}))
	mustEnvtest(t, hers.Get(ctx, runtimeclient.ObjectKeyFromObject(backup), backup))
}

// TestEnvtestFlags checks that a suite's API server flags take effect, and that unsupported flags
// are logged.
func TestEnvtestFlags(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	e := &envtest.Environment{BinaryAssetsDirectory: assets.Get(t)}
	server := e.ControlPlane.GetAPIServer()
	server.Err = &log
	server.Configure().Append("enable-admission-plugins", "AlwaysPullImages").Set("controllers", "apiserver").Append("egress-selector-config-file", "x").Append("v", "2")
	config, err := e.Start()
	mustEnvtest(t, err)
	c := newClientEnvtest(t, config)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "default"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
	if mustEnvtest(t, c.Create(t.Context(), pod)); pod.Spec.Containers[0].ImagePullPolicy != corev1.PullAlways {
		t.Errorf("the image is pulled %s", pod.Spec.Containers[0].ImagePullPolicy)
	}
	shop := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}
	mustEnvtest(t, c.Create(t.Context(), shop))
	mustEnvtest(t, c.Delete(t.Context(), shop))
	if mustEnvtest(t, c.Get(t.Context(), runtimeclient.ObjectKeyFromObject(shop), shop)); shop.Status.Phase != corev1.NamespaceTerminating {
		t.Errorf("the namespace is %s", shop.Status.Phase)
	}
	mustEnvtest(t, e.Stop())
	for _, flag := range []string{"--etcd-servers", "--egress-selector-config-file", "--allow-privileged"} {
		if n := strings.Count(log.String(), "flag="+flag+" "); n != 1 {
			t.Errorf("%s is logged %d times:\n%s", flag, n, &log)
		}
	}
}

// TestManyAtOnce checks that several control planes can run concurrently.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	count := 3
	if soak {
		count = 30
	}
	var all sync.WaitGroup
	faults := make(chan error, count)
	for range count {
		all.Go(func() {
			e := &envtest.Environment{BinaryAssetsDirectory: assets.Get(t)}
			config, err := e.Start()
			if err != nil {
				faults <- err
				return
			}
			c, err := runtimeclient.New(config, runtimeclient.Options{})
			if err == nil {
				err = c.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "default"}})
			}
			faults <- errors.Join(err, e.Stop())
		})
	}
	all.Wait()
	close(faults)
	for err := range faults {
		if err != nil {
			t.Error(err)
		}
	}
}

// TestEnvtestKilled checks that a killed test's control plane exits and removes its directories.
func TestEnvtestKilled(t *testing.T) {
	t.Parallel()
	temporary := t.TempDir()
	test := exec.Command(os.Args[0])
	test.Env = append(os.Environ(), abandoned+"="+assets.Get(t), "TMPDIR="+temporary)
	out, err := test.StdoutPipe()
	mustEnvtest(t, err)
	mustEnvtest(t, test.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || line != "started\n" {
		t.Errorf("%q %v", line, err)
	}
	orphans := processesOf(t, temporary)
	if len(orphans) != 2 {
		t.Errorf("the control plane is %v", orphans)
	}
	mustEnvtest(t, test.Process.Kill())
	_ = test.Wait() // it was killed
	client.Eventually(t, func() error {
		if left := processesOf(t, temporary); len(left) > 0 {
			return fmt.Errorf("%v go on", left)
		}
		// The control plane does not remove other envtest directories, such as the one for webhook
		// certificates.
		left, err := filepath.Glob(filepath.Join(temporary, "k8s_test_framework_*"))
		if err == nil && len(left) > 0 {
			err = fmt.Errorf("%v are left", left)
		}
		return err
	})
}

// processesOf returns the command lines of control plane processes with a path below temporary.
func processesOf(t *testing.T, temporary string) []string {
	t.Helper()
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	mustEnvtest(t, err)
	var found []string
	for _, path := range lines {
		text, err := os.ReadFile(path)
		if err == nil && bytes.HasPrefix(text, []byte(assets.Get(t))) && bytes.Contains(text, []byte(temporary)) {
			found = append(found, strings.ReplaceAll(string(text), "\x00", " "))
		}
	}
	return found
}
