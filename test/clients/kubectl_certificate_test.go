package clients

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

// TestDenial checks that a denied CertificateSigningRequest gets no certificate and cannot be
// approved later.
func TestDenial(t *testing.T) {
	client.NeedTool(t, "openssl")
	t.Parallel()
	c := newAdministrator(t)
	for _, step := range []struct{ command, want string }{
		{`openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout joe.key -subj "/CN=joe" -out joe.csr`, ""},
		{`printf 'apiVersion: certificates.k8s.io/v1\nkind: CertificateSigningRequest\nmetadata: {name: joe}\nspec:\n  signerName: kubernetes.io/kube-apiserver-client\n  usages: [client auth]\n  request: %s\n' $(base64 -w0 < joe.csr) | kubectl create -f -`, "created"},
		{`kubectl certificate deny joe`, "denied"},
		{`kubectl get csr joe --no-headers`, "Denied"},
		{`kubectl certificate approve joe`, "certificate signing request \"joe\" is already Denied"},
		{`kubectl get csr joe -o jsonpath='{.status.certificate}'`, ""},
	} {
		got, err := c.run(step.command)
		if err != nil || !strings.Contains(got.output, step.want) {
			t.Fatalf("%s: %s %v, want %s", step.command, got.output, err, step.want)
		}
	}
}

// newAdministrator starts a server with the kubernetes naming profile, and returns the
// administrator's kubectl client. The client has its own kubeconfig, to which tests can add users.
func newAdministrator(t *testing.T) kubectlClient {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	serve(t, dir, "kubernetes", "0")
	text := client.ReadFile(t, filepath.Join(dir, "admin.kubeconfig"))
	work := workspace(t)
	kubeconfig := filepath.Join(work, "kubeconfig")
	client.WriteFile(t, kubeconfig, text)
	return newClientKubectl(t, client.KubectlBinary(t), true, "kubernetes", kubeconfig, work)
}
