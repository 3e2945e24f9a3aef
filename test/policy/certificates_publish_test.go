package policy

import (
	"bytes"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

func parsePEM(t *testing.T, text string) *x509.Certificate {
	t.Helper()
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		t.Fatalf("no PEM: %q", text)
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

func (c *certificateCluster) waitMetric(name string) {
	c.T.Helper()
	client.Eventually(c.T, func() error {
		answer, err := c.Get(c.Ctx, "/metrics")
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(answer.Body)) {
			if value, ok := strings.CutPrefix(line, name+" "); ok && strings.TrimSpace(value) != "0" {
				return nil
			}
		}
		return fmt.Errorf("%s is 0", name)
	})
}

const roots = "/configmaps/platform-root-ca.crt"

// rootsOf returns the certificates in a namespace's root CA ConfigMap. It waits until the ConfigMap
// contains only certificates and, unless accept is nil, until accept returns nil.
func (c *certificateCluster) rootsOf(namespace string, accept func(client.Object) error) (text string) {
	c.T.Helper()
	client.Eventually(c.T, func() error {
		answer, err := c.Get(c.Ctx, c.named("/api/v1/namespaces/"+namespace+roots))
		if err != nil || answer.Code != 200 {
			return fmt.Errorf("%v %v", answer, err)
		}
		o := answer.Object()
		data, _ := o["data"].(map[string]any)
		notes, _ := o.Metadata()["annotations"].(map[string]any)
		text, _ = data["ca.crt"].(string)
		if len(data) != 1 || !strings.HasPrefix(text, "-----BEGIN CERTIFICATE-----") || notes[c.named("platform.io/description")] == nil {
			return fmt.Errorf("%s", answer.Body)
		}
		if accept != nil {
			return accept(o)
		}
		return nil
	})
	return text
}

// TestRootCA checks that every namespace has the root CA ConfigMap, and that the server restores it
// after clients change or delete it.
func TestRootCA(t *testing.T) {
	openCertificatesInProfiles(t, nil, func(c *certificateCluster) {
		c.must(201, "POST", "/api/v1/namespaces", client.JSON, `{"metadata":{"name":"mine"}}`)
		text := c.rootsOf("mine", nil)
		for _, namespace := range []string{"default", "platform-system"} {
			if c.rootsOf(c.named(namespace), nil) != text {
				c.T.Errorf("%s trusts another server", namespace)
			}
		}
		at := "/api/v1/namespaces/mine" + roots
		c.must(200, "PATCH", at, client.MergePatch, `{"data":{"ca.crt":"nonsense","more":"x"}}`)
		c.rootsOf("mine", nil)
		c.must(200, "PATCH", at, client.MergePatch, `{"metadata":{"annotations":null}}`)
		c.rootsOf("mine", nil)
		uid := c.must(200, "GET", at, "", "").UID()
		another := func(o client.Object) error {
			if o.UID() == uid {
				return fmt.Errorf("it is the same object still")
			}
			return nil
		}
		c.must(200, "DELETE", at, "", "")
		c.rootsOf("mine", another)
		// An immutable ConfigMap cannot be updated, so the server replaces it.
		uid = c.must(200, "GET", at, "", "").UID()
		c.must(200, "PATCH", at, client.MergePatch, `{"immutable":true,"data":{"ca.crt":"nonsense"}}`)
		c.rootsOf("mine", another)
		c.must(200, "DELETE", "/api/v1/namespaces/mine", "", "")
		client.Eventually(c.T, func() error {
			answer, err := c.Get(c.Ctx, "/api/v1/namespaces/mine")
			if err == nil && answer.Code != 404 {
				err = &answer
			}
			return err
		})
	})
}

const bundles = "/apis/certificates.platform.io/v1beta1/clustertrustbundles"

func withBundles(c *daemon.Config) {
	group := map[string]string{"platform": "certificates.platform.io", "kubernetes": "certificates.k8s.io"}[c.Naming]
	c.API.RuntimeConfig = daemon.Switches{group + "/v1beta1": true, group + "/v1alpha1": true}
	c.API.FeatureGates = daemon.Switches{"ClusterTrustBundle": true}
	c.TLS.ReloadPeriod = daemon.Duration(5 * time.Millisecond)
}

// TestTrustBundles checks that ClusterTrustBundles, if enabled, are served in two versions.
func TestTrustBundles(t *testing.T) {
	openCertificatesInProfiles(t, withBundles, func(c *certificateCluster) {
		root := c.rootsOf("default", nil)
		body := func(name, signer string) string {
			text, _ := json.Marshal(map[string]any{"metadata": map[string]any{"name": name}, "spec": map[string]any{"signerName": signer, "trustBundle": root}})
			return string(text)
		}
		alpha := strings.Replace(bundles, "v1beta1", "v1alpha1", 1)
		c.must(201, "POST", bundles, client.JSON, body("roots", ""))
		if o := c.must(200, "GET", alpha+"/roots", "", ""); o["apiVersion"] != c.named("certificates.platform.io/v1alpha1") {
			c.T.Errorf("served as %v", o["apiVersion"])
		}
		c.must(201, "POST", alpha, client.JSON, body("example.com:s:1", "example.com/s"))
		c.must(422, "POST", bundles, client.JSON, body("roots2", "example.com/s"))
		list := c.must(200, "GET", bundles+"?fieldSelector=spec.signerName%3Dexample.com%2Fs", "", "")
		if items := list["items"].([]any); len(items) != 1 {
			c.T.Errorf("selected by signer: %v", items)
		}
		// Writing a ClusterTrustBundle with a signer requires the verb attest on the signer.
		c.must(201, "POST", "/apis/rbac.authorization.platform.io/v1/clusterroles", client.JSON, `{"metadata":{"name":"bundles"},"rules":[
			{"apiGroups":["certificates.platform.io"],"resources":["clustertrustbundles"],"verbs":["*"]},
			{"apiGroups":["certificates.platform.io"],"resources":["signers"],"resourceNames":["example.org/*"],"verbs":["attest"]}]}`)
		c.must(201, "POST", "/apis/rbac.authorization.platform.io/v1/clusterrolebindings", client.JSON, `{"metadata":{"name":"bundles"},
			"roleRef":{"apiGroup":"rbac.authorization.platform.io","kind":"ClusterRole","name":"bundles"},
			"subjects":[{"apiGroup":"rbac.authorization.platform.io","kind":"User","name":"joe"}]}`)
		c.as("system:serviceaccount:default:default", []string{"system:serviceaccounts"}, 200, "GET", bundles, "", "")
		c.as("joe", nil, 201, "POST", bundles, client.JSON, body("joes", ""))
		c.as("joe", nil, 201, "POST", bundles, client.JSON, body("example.org:s:1", "example.org/s"))
		c.as("joe", nil, 403, "POST", bundles, client.JSON, body("example.com:s:2", "example.com/s"))
		c.as("joe", nil, 403, "PATCH", bundles+"/example.com:s:1", client.MergePatch, `{"metadata":{"labels":{"a":"b"}}}`)
	})
}

// TestTrustBundlesOff checks that, by default, ClusterTrustBundles are neither served nor listed in
// discovery.
func TestTrustBundlesOff(t *testing.T) {
	openCertificatesInProfiles(t, nil, func(c *certificateCluster) {
		c.must(404, "GET", bundles, "", "")
		group := c.must(200, "GET", "/apis/certificates.platform.io", "", "")
		if versions := group["versions"].([]any); len(versions) != 1 {
			c.T.Errorf("versions: %v", versions)
		}
	})
}

// published returns the ClusterTrustBundles of the server's own signer.
func (c *certificateCluster) published() []client.Object {
	c.T.Helper()
	list, err := c.List(c.Ctx, c.named(bundles), nil)
	if err != nil {
		c.T.Fatal(err)
	}
	var own []client.Object
	for _, o := range list.Items {
		if strings.HasPrefix(o.Name(), c.named("platform.io:apiserver-serving")+":") {
			own = append(own, o)
		}
	}
	return own
}

// TestRotation checks that a new server CA is added to the root CA ConfigMaps and replaces the
// published ClusterTrustBundle.
func TestRotation(t *testing.T) {
	t.Parallel()
	dir := ""
	c := openCertificates(t, "kubernetes", func(d *daemon.Config) {
		withBundles(d)
		dir = d.DataDir
	})
	bundle := func(other string) (name string) {
		client.Eventually(t, func() error {
			own := c.published()
			if len(own) != 1 || own[0].Name() == other {
				return fmt.Errorf("published: %v", own)
			}
			name = own[0].Name()
			return nil
		})
		return name
	}
	before, name := c.rootsOf("default", nil), bundle("")
	c.renew(dir)
	after := c.rootsOf("default", func(o client.Object) error {
		if text := o["data"].(map[string]any)["ca.crt"]; text == before {
			return fmt.Errorf("the roots are those of before")
		}
		return nil
	})
	if !strings.HasSuffix(after, before) {
		t.Error("the CA before is not among the roots any more")
	}
	bundle(name)
	c.must(200, "DELETE", bundles+"/"+bundle(name), "", "")
	bundle(name)
}

// renew makes the daemon renew its CA, and then uses the administrator's new credentials.
func (c *certificateCluster) renew(dir string) {
	c.T.Helper()
	kubeconfig := filepath.Join(dir, "admin.kubeconfig")
	before, err := os.ReadFile(kubeconfig)
	if err != nil {
		c.T.Fatal(err)
	}
	writeCertificates(c.T, filepath.Join(dir, "pki", "ca.renew"), nil)
	client.Eventually(c.T, func() error {
		if now, err := os.ReadFile(kubeconfig); err != nil || bytes.Equal(now, before) {
			return fmt.Errorf("the credentials are those of before: %v", err)
		}
		renewed, err := client.New(kubeconfig)
		if err != nil {
			return err
		}
		c.Client = renewed
		answer, err := renewed.Get(c.Ctx, "/api")
		if err == nil && answer.Code != 200 {
			err = &answer
		}
		return err
	})
}
