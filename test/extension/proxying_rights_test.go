package extension

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	admission "k8s.io/api/admissionregistration/v1"
	authorization "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbac "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/remotecommand"
	certutil "k8s.io/client-go/util/cert"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
	"github.com/troupe-api/troupe/test/client/pki"
)

// allow grants a user verbs on a Pod subresource, and returns a function that revokes them.
func (c *cluster) allow(t *testing.T, user, subresource string, verbs ...string) (revoke func()) {
	t.Helper()
	name := user + "-" + subresource
	role := &rbac.Role{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: []rbac.PolicyRule{{APIGroups: []string{""}, Resources: []string{"pods/" + subresource}, Verbs: verbs}}}
	_, err := c.clients.RbacV1().Roles("default").Create(t.Context(), role, metav1.CreateOptions{})
	must(t, err)
	binding := &rbac.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Subjects: []rbac.Subject{{Kind: "User", APIGroup: rbac.GroupName, Name: user}},
		RoleRef: rbac.RoleRef{APIGroup: rbac.GroupName, Kind: "Role", Name: name},
	}
	_, err = c.clients.RbacV1().RoleBindings("default").Create(t.Context(), binding, metav1.CreateOptions{})
	must(t, err)
	return func() {
		must(t, c.clients.RbacV1().RoleBindings("default").Delete(t.Context(), name, metav1.DeleteOptions{}))
	}
}

func (c *cluster) as(user string) *rest.Config {
	config := rest.CopyConfig(c.config)
	config.Impersonate.UserName = user
	return config
}

// TestRights checks the permissions for pods/exec. Opening a stream requires the verb create, and
// over WebSocket also the verb get.
func TestRights(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "127.0.0.1")
	c.allow(t, "reader", "exec", "get")
	c.allow(t, "writer", "exec", "create")
	c.allow(t, "both", "exec", "create", "get")
	for _, try := range []struct {
		user, protocol string
		fault          string // "": allowed
	}{
		{"reader", "SPDY", `cannot create resource "pods/exec"`}, {"reader", "WebSocket", `pods "one" is forbidden`},
		{"writer", "SPDY", ""}, {"writer", "WebSocket", `cannot get resource "pods/exec"`},
		{"both", "SPDY", ""}, {"both", "WebSocket", ""}, {"nobody", "SPDY", "forbidden"},
	} {
		e, err := executors[try.protocol](c.as(try.user), c.stream("exec", "one", &corev1.PodExecOptions{Stdout: true, Command: []string{"true"}}))
		must(t, err)
		err = e.StreamWithContext(t.Context(), remotecommand.StreamOptions{Stdout: io.Discard})
		if (err == nil) != (try.fault == "") || err != nil && !strings.Contains(err.Error(), try.fault) {
			t.Errorf("%s by %s: %v", try.user, try.protocol, err)
		}
	}
	if seen := c.kubelet.seen.Load(); len(seen.Header.Values("Impersonate-User"))+len(seen.Header.Values("Authorization")) > 0 {
		t.Errorf("the kubelet saw %v", seen.Header)
	}
}

// TestOwnKubeletClient checks that the daemon, by default, connects to kubelets with a client
// certificate from its own CA. The certificate's user may access only the kubelet API.
func TestOwnKubeletClient(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := &cluster{server: client.Serve(t, dir, func(o *daemon.Config) {
		o.Naming, o.Admission.Disable = "kubernetes", []string{"ServiceAccount"}
	})}
	var err error
	c.config, err = clientcmd.BuildConfigFromFlags("", c.server.Kubeconfig())
	must(t, err)
	c.clients, err = kubernetes.NewForConfig(c.config)
	must(t, err)
	ca, err := certutil.CertsFromFile(filepath.Join(dir, "pki", "ca.crt"))
	must(t, err)
	c.kubelet = newKubelet(t, "127.0.0.1", ca[0], pki.Authority(t, "kubelets"))
	c.addNode(t, "here", []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "127.0.0.1"}}, c.kubelet.port)
	c.addPod(t, "one", "here", "127.0.0.1", "main")
	_, err = c.get(t, "/api/v1/namespaces/default/pods/one/log")
	must(t, err)
	user := c.kubelet.seen.Load().TLS.PeerCertificates[0].Subject.CommonName
	for _, try := range []struct {
		verb, resource, subresource string
		allowed                     bool
	}{{"get", "nodes", "proxy", true}, {"create", "nodes", "log", true}, {"get", "nodes", "metrics", true}, {"get", "secrets", "", false}, {"delete", "nodes", "", false}} {
		review, err := c.clients.AuthorizationV1().SubjectAccessReviews().Create(t.Context(), &authorization.SubjectAccessReview{Spec: authorization.SubjectAccessReviewSpec{
			User: user, ResourceAttributes: &authorization.ResourceAttributes{Verb: try.verb, Resource: try.resource, Subresource: try.subresource, Name: "here"},
		}}, metav1.CreateOptions{})
		must(t, err)
		if review.Status.Allowed != try.allowed {
			t.Errorf("%s %s/%s by %q: %+v", try.verb, try.resource, try.subresource, user, review.Status)
		}
	}
}

// TestRevocation checks that streams and followed logs end when the user loses permission.
func TestRevocation(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "127.0.0.1")
	for protocol, executor := range executors {
		user := "u-" + strings.ToLower(protocol)
		revoke := c.allow(t, user, "exec", "create", "get")
		e, err := executor(c.as(user), c.stream("exec", "one", &corev1.PodExecOptions{Stdin: true, Stdout: true, Command: []string{"cat"}}))
		must(t, err)
		in, write := io.Pipe()
		defer write.Close()
		read, out := io.Pipe()
		go func() {
			_ = e.StreamWithContext(context.Background(), remotecommand.StreamOptions{Stdin: in, Stdout: out})
			_ = out.Close()
		}()
		go func() { _, _ = io.WriteString(write, "x\n") }()
		r := bufio.NewReader(read)
		if line, err := r.ReadString('\n'); line != "x\n" || err != nil {
			t.Fatalf("%s: %q %v", protocol, line, err)
		}
		revoke()
		if rest, err := io.ReadAll(r); len(rest) > 0 || err != nil {
			t.Errorf("%s: %q %v", protocol, rest, err)
		}
	}
	revoke := c.allow(t, "logs", "log", "get")
	logs, err := rest.HTTPClientFor(c.as("logs"))
	must(t, err)
	resp, err := logs.Get(c.config.Host + "/api/v1/namespaces/default/pods/one/log?follow=true")
	must(t, err)
	defer resp.Body.Close()
	r := bufio.NewReader(resp.Body)
	if line, err := r.ReadString('\n'); err != nil {
		t.Fatalf("%q %v", line, err)
	}
	revoke()
	if _, err := r.ReadString('\n'); err == nil {
		t.Error("the log goes on")
	}
	client.Eventually(t, func() error {
		if n := c.kubelet.open.Load(); n != 0 {
			return fmt.Errorf("%d streams are left", n)
		}
		return nil
	})
}

// TestAdmission checks that admission policies for CONNECT see the request's options, and that
// metrics count CONNECT requests.
func TestAdmission(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "127.0.0.1")
	policy := &admission.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "commands"}, Spec: admission.ValidatingAdmissionPolicySpec{
		MatchConstraints: &admission.MatchResources{ResourceRules: []admission.NamedRuleWithOperations{{RuleWithOperations: admission.RuleWithOperations{
			Operations: []admission.OperationType{"CONNECT"},
			Rule:       admission.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods/exec", "pods/proxy"}},
		}}}},
		Validations: []admission.Validation{{
			Expression: "request.kind.kind != 'PodExecOptions' || object.command[0] != 'reboot'", Message: "no reboots",
		}, {
			Expression: "request.kind.kind != 'PodProxyOptions' || object.path != '/secret'", Message: "not that",
		}},
	}}
	_, err := c.clients.AdmissionregistrationV1().ValidatingAdmissionPolicies().Create(t.Context(), policy, metav1.CreateOptions{})
	must(t, err)
	_, err = c.clients.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Create(t.Context(), &admission.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "commands"},
		Spec:       admission.ValidatingAdmissionPolicyBindingSpec{PolicyName: "commands", ValidationActions: []admission.ValidationAction{"Deny"}},
	}, metav1.CreateOptions{})
	must(t, err)
	for protocol, executor := range executors {
		for command, refused := range map[string]bool{"reboot": true, "true": false} {
			e, err := executor(c.config, c.stream("exec", "one", &corev1.PodExecOptions{Stdout: true, Command: []string{command}}))
			must(t, err)
			err = e.StreamWithContext(t.Context(), remotecommand.StreamOptions{Stdout: io.Discard})
			if refused != (err != nil) || refused && !strings.Contains(err.Error(), "no reboots") {
				t.Errorf("%s by %s: %v", command, protocol, err)
			}
		}
	}
	if got := c.fault(t, "/api/v1/namespaces/default/pods/one:1/proxy/secret"); !strings.Contains(got, "not that") {
		t.Error(got)
	}
	if got := c.fault(t, "/api/v1/namespaces/default/pods/one:1/proxy/other"); got != "400 BadRequest address not allowed" {
		t.Error(got)
	}
	client.Eventually(t, func() error { // a request counts as running until after the client has the response
		metrics, err := c.get(t, "/metrics")
		if err != nil {
			return err
		}
		for _, want := range []string{
			`apiserver_request_total{verb="CONNECT",group="",version="v1",resource="pods",subresource="exec",scope="resource",code="101"} 2`,
			`apiserver_request_total{verb="CONNECT",group="",version="v1",resource="pods",subresource="proxy",scope="resource",code="400"} 1`,
			`apiserver_longrunning_requests{verb="CONNECT"} 0`,
		} {
			if !strings.Contains(metrics, want) {
				return fmt.Errorf("the metrics lack %s", want)
			}
		}
		return nil
	})
}
