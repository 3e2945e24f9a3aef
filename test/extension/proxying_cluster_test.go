package extension

import (
	"encoding/json"
	"fmt"
	"net/url"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
	"github.com/troupe-api/troupe/test/client/pki"
)

// A cluster is a daemon with Pods on a Node whose kubelet runs in the test.
type cluster struct {
	config  *rest.Config
	clients kubernetes.Interface
	kubelet *kubelet
	server  *client.Server
}

func newCluster(t *testing.T, host string, change ...func(*daemon.Config)) *cluster {
	t.Helper()
	clients, servers := pki.Authority(t, "clients"), pki.Authority(t, "kubelets")
	apiserver := pki.Client(t, clients, "apiserver")
	c := &cluster{kubelet: newKubelet(t, host, clients.Leaf, servers)}
	c.server = client.Serve(t, t.TempDir(), func(o *daemon.Config) {
		o.Naming = "kubernetes"
		o.Kubelets.ClientCertFile = writePEM(t, pki.PEM(apiserver.Leaf))
		o.Kubelets.ClientKeyFile = writePEM(t, pki.ECKeyPEM(t, apiserver.PrivateKey))
		o.Kubelets.CertificateAuthority = writePEM(t, pki.PEM(servers.Leaf))
		o.Admission.Disable = []string{"ServiceAccount"}
		for _, f := range change {
			f(o)
		}
	})
	var err error
	c.config, err = clientcmd.BuildConfigFromFlags("", c.server.Kubeconfig())
	must(t, err)
	c.config.QPS = -1
	c.clients, err = kubernetes.NewForConfig(c.config)
	must(t, err)
	c.addNode(t, "here", []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: host}}, c.kubelet.port)
	c.addPod(t, "one", "here", host, "main")
	c.addPod(t, "two", "here", host, "main", "side")
	c.addPod(t, "unbound", "", "", "main")
	return c
}

func (c *cluster) addNode(t *testing.T, name string, addresses []corev1.NodeAddress, port int) {
	t.Helper()
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	n, err := c.clients.CoreV1().Nodes().Create(t.Context(), n, metav1.CreateOptions{})
	must(t, err)
	n.Status.Addresses = addresses
	n.Status.DaemonEndpoints.KubeletEndpoint.Port = int32(port)
	_, err = c.clients.CoreV1().Nodes().UpdateStatus(t.Context(), n, metav1.UpdateOptions{})
	must(t, err)
}

func (c *cluster) addPod(t *testing.T, name, node, ip string, containers ...string) {
	t.Helper()
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{NodeName: node}}
	for _, container := range containers {
		p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: container, Image: "i"})
	}
	p, err := c.clients.CoreV1().Pods("default").Create(t.Context(), p, metav1.CreateOptions{})
	must(t, err)
	p.Status.Phase = corev1.PodRunning
	if ip != "" {
		p.Status.PodIP, p.Status.PodIPs = ip, []corev1.PodIP{{IP: ip}}
	}
	_, err = c.clients.CoreV1().Pods("default").UpdateStatus(t.Context(), p, metav1.UpdateOptions{})
	must(t, err)
}

func (c *cluster) get(t *testing.T, path string) (string, error) {
	t.Helper()
	b, err := c.clients.CoreV1().RESTClient().Get().AbsPath(path).DoRaw(t.Context())
	return string(b), err
}

func (c *cluster) fault(t *testing.T, path string) string {
	t.Helper()
	a, err := c.server.Client.Get(t.Context(), path)
	must(t, err)
	var s metav1.Status
	if err := json.Unmarshal(a.Body, &s); err != nil {
		t.Errorf("%s: %s", path, a)
	}
	return fmt.Sprintf("%d %s %s", a.Code, s.Reason, s.Message)
}

func (c *cluster) stream(subresource, pod string, options any) *url.URL {
	r := c.clients.CoreV1().RESTClient().Post().Resource("pods").Namespace("default").Name(pod).SubResource(subresource)
	switch o := options.(type) {
	case *corev1.PodExecOptions:
		r.VersionedParams(o, scheme.ParameterCodec)
	case *corev1.PodAttachOptions:
		r.VersionedParams(o, scheme.ParameterCodec)
	}
	return r.URL()
}
