package extension

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
	"github.com/troupe-api/troupe/test/client/pki"
)

func behind(h *hookServer, name string, port int) string {
	return fmt.Sprintf(`{"service":{"namespace":"default","name":%q,"port":%d,"path":"/p"},"caBundle":%q}`, name, port, h.bundle)
}

func port(h *hookServer) string {
	u, _ := url.Parse(h.URL)
	return u.Port()
}

// TestWebhookService checks that a webhook with a Service reference is called through ready
// endpoints or at the configured address. Its certificate must be valid for the Service.
func TestWebhookService(t *testing.T) {
	t.Parallel()
	own := client.OwnAddress(t)
	h := startAt(t, own, allow, "hook.default.svc")
	given := startWebhooks(t, allow, "given.default.svc")
	wrong := startWebhooks(t, allow, "other.default.svc")
	s := openWebhooks(t, func(c *daemon.Config) {
		c.Admission.ServiceResolver = []string{"given.default=127.0.0.1:" + port(given), "wrong.default=127.0.0.1:" + port(wrong)}
	})
	const slices = "/apis/discovery.platform.io/v1/namespaces/default/endpointslices"
	try := func(code int, name string, number int, text string) {
		t.Helper()
		server := map[string]*hookServer{"given": given, "wrong": wrong}[name]
		if server == nil {
			server = h
		}
		s.register(validating, "v", webhookHook{rules: onlyConfigMaps, client: behind(server, name, number)}.text(server))
		a := s.Send(code, "POST", configMaps+"?dryRun=All", client.JSON, configMap("a", ""))
		s.wantMessage(a, text)
		s.unregister(validating, "v")
	}
	try(201, "given", 443, "")
	try(500, "wrong", 443, "certificate is valid for other.default.svc, not wrong.default.svc")
	try(500, "hook", 443, `failed to call webhook: Post "https://hook.default.svc:443/p?timeout=30s": service "hook" not found`)
	s.Send(201, "POST", "/api/v1/namespaces/default/services", client.JSON, `{"metadata":{"name":"hook"},"spec":{"ports":[{"name":"w","port":8443,"targetPort":1}]}}`)
	try(500, "hook", 443, `no service port 443 found for service "hook"`)
	eventually := func(code int, text string) { // endpoints are followed with a delay
		t.Helper()
		s.register(validating, "v", webhookHook{rules: onlyConfigMaps, client: behind(h, "hook", 8443)}.text(h))
		client.Eventually(t, func() error {
			a, err := s.Do(s.Ctx, "POST", configMaps+"?dryRun=All", client.JSON, []byte(configMap("a", "")))
			if err == nil && (a.Code != code || !strings.Contains(message(a), text)) {
				err = &a
			}
			return err
		})
		s.unregister(validating, "v")
	}
	slice := `{"metadata":{"name":"hook-1","labels":{"platform.io/service-name":"hook"}},"addressType":"IPv4","ports":[{"name":"w","port":` + port(h) + `}],"endpoints":[{"addresses":["` + own + `"],"conditions":{"ready":%t}}]}`
	s.Send(201, "POST", slices, client.JSON, fmt.Sprintf(slice, false))
	eventually(500, `no endpoints available for service "hook"`)
	s.Send(200, "DELETE", slices+"/hook-1", "", "")
	s.Send(201, "POST", slices, client.JSON, fmt.Sprintf(slice, true))
	eventually(201, "")
	h.questions()
	try(201, "hook", 8443, "")
	if q := only(t, h); q.header.Get("Authorization") != "" {
		t.Errorf("sent %q", q.header)
	}
}

// TestWebhookTrust checks that a webhook's certificate is verified.
func TestWebhookTrust(t *testing.T) {
	t.Parallel()
	s := openWebhooks(t, nil)
	h, other := startWebhooks(t, allow), startWebhooks(t, allow)
	for _, c := range []struct{ client, text string }{
		{fmt.Sprintf(`{"url":%q}`, h.URL), "certificate signed by unknown authority"},
		{fmt.Sprintf(`{"url":%q,"caBundle":%q}`, h.URL, other.bundle), "certificate signed by unknown authority"},
		{fmt.Sprintf(`{"url":%q,"caBundle":%q}`, strings.Replace(h.URL, "127.0.0.1", "localhost", 1), h.bundle), "not valid for any names"},
	} {
		s.register(validating, "v", webhookHook{rules: onlyConfigMaps, client: c.client}.text(h))
		a := s.create(500, "a", "")
		if !strings.Contains(message(a), "failed to call webhook") || !strings.Contains(message(a), c.text) && !strings.Contains(message(a), "certificate is not valid") {
			t.Errorf("%s: %s", c.client, a)
		}
		s.unregister(validating, "v")
	}
	if asked := len(h.questions()); asked > 0 {
		t.Errorf("asked %d times", asked)
	}
}

// TestCredentials checks that a configuration file provides the credentials for a webhook, and that
// changes to the file take effect.
func TestCredentials(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	users, file := filepath.Join(dir, "users"), filepath.Join(dir, "admission")
	pair, encoded := pki.Client(t, pki.Authority(t, "clients"), "client"), base64.StdEncoding.EncodeToString
	h := startWebhooks(t, allow, "hook.default.svc", "other.default.svc")
	put := func(path, text string) {
		client.WriteFile(t, path, text)
	}
	host := strings.TrimPrefix(h.URL, "https://")
	put(users, "users:\n- {name: '"+host+"', user: {token: by-url}}\n- {name: hook.default.svc, user: {username: u, password: p}}\n- {name: '*', user: {token: by-default}}\n"+
		"- {name: 'other.default.svc:8443', user: {client-certificate-data: "+encoded(pki.PEM(pair.Leaf))+", client-key-data: "+encoded(pki.KeyPEM(t, pair.PrivateKey))+"}}\n")
	put(file, `{"apiVersion":"apiserver.config.platform.io/v1","kind":"AdmissionConfiguration","plugins":[
		{"name":"ValidatingAdmissionWebhook","configuration":{"apiVersion":"apiserver.config.platform.io/v1","kind":"WebhookAdmissionConfiguration","kubeConfigFile":"`+users+`"}},
		{"name":"MutatingAdmissionWebhook","configuration":{"apiVersion":"apiserver.platform.io/v1alpha1","kind":"WebhookAdmission","clientConfigFile":"`+users+`"}}]}`)
	s := openWebhooks(t, func(c *daemon.Config) {
		c.Admission.ConfigFile = file
		c.Admission.ServiceResolver = []string{"hook.default=" + host, "other.default=" + host}
	})
	certificates := make(chan int, 100)
	h.set(func(q question, w http.ResponseWriter, r *http.Request) {
		certificates <- len(r.TLS.PeerCertificates)
		allow(q, w, r)
	})
	for _, kind := range []string{validating, mutating} {
		for _, c := range []struct {
			client, header string
			certificates   int
		}{
			{"", "Bearer by-url", 0},
			{behind(h, "hook", 443), "Basic dTpw", 0},
			{behind(h, "hook", 8443), "Bearer by-default", 0},
			{behind(h, "other", 443), "Bearer by-default", 0},
			{behind(h, "other", 8443), "", 1},
		} {
			s.register(kind, "x", webhookHook{rules: onlyConfigMaps, client: c.client}.text(h))
			s.Send(201, "POST", configMaps+"?dryRun=All", client.JSON, configMap("a", ""))
			if got, presented := only(t, h).header.Get("Authorization"), <-certificates; got != c.header || presented != c.certificates {
				t.Errorf("%s: %q and %d certificates, want %q and %d", c.client, got, presented, c.header, c.certificates)
			}
			s.unregister(kind, "x")
		}
	}
	s.register(validating, "x", webhookHook{rules: onlyConfigMaps}.text(h))
	h.set(allow)
	put(users, "users: [{name: '*', user: {token: renewed}}]")
	client.Eventually(t, func() error {
		s.Send(201, "POST", configMaps+"?dryRun=All", client.JSON, configMap("a", ""))
		if got := only(t, h).header.Get("Authorization"); got != "Bearer renewed" {
			return fmt.Errorf("sent %q", got)
		}
		return nil
	})
}

// TestConfigurationFile checks that a faulty configuration file is reported and prevents startup.
func TestConfigurationFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "admission")
	plugin := func(configuration string) string {
		return `{"apiVersion":"apiserver.config.platform.io/v1","kind":"AdmissionConfiguration","plugins":[{"name":"ValidatingAdmissionWebhook","configuration":` + configuration + `}]}`
	}
	const head = `"apiVersion":"apiserver.config.platform.io/v1","kind":"WebhookAdmissionConfiguration"`
	for text, want := range map[string]string{
		`{"kind":"Other"}`: `must be one of ["apiserver.config.platform.io/v1 AdmissionConfiguration"`,
		`{"apiVersion":"apiserver.config.platform.io/v1","kind":"AdmissionConfiguration","plugins":[{"name":"Nobody"}]}`: `plugins[0].name: unknown admission plugin "Nobody"`,
		plugin(`{` + head + `,"kubeConfig":"x"}`):                              `unknown field "kubeConfig"`,
		plugin(`{` + head + `,"kubeConfigFile":"relative"}`):                   `kubeConfigFile: Invalid value: "relative": must be an absolute file path`,
		plugin(`{` + head + `,"kubeConfigFile":"` + dir + `/absent"}`):         "absent",
		plugin(`{"kind":"WebhookAdmission","apiVersion":"v1"}`):                `no kind "WebhookAdmission" is registered for version "v1": must be one of`,
		plugin(`{` + head + `,"kubeConfigFile":"/a","clientConfigFile":"/b"}`): "clientConfigFile: Forbidden: must not be set together with kubeConfigFile",
	} {
		client.WriteFile(t, file, text)
		config := daemon.Default()
		config.DataDir, config.Serving.SecurePort, config.Admission.ConfigFile = t.TempDir(), 0, file
		d, err := daemon.New(config, t.Output())
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Start(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
			if err == nil {
				_ = d.Stop(t.Context())
			}
		}
	}
}

// TestSwitchedOff checks that no webhook is called if the plugins are disabled.
func TestSwitchedOff(t *testing.T) {
	t.Parallel()
	h := startWebhooks(t, respond(`"allowed":false`))
	s := openWebhooks(t, func(c *daemon.Config) {
		c.Admission.Disable = []string{"MutatingAdmissionWebhook", "ValidatingAdmissionWebhook"}
	})
	s.register(validating, "v", webhookHook{}.text(h))
	s.register(mutating, "m", webhookHook{}.text(h))
	s.create(201, "a", "")
}
