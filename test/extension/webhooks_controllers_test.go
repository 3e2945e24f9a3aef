package extension

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
	"github.com/troupe-api/troupe/test/client/pki"
)

// A controllerRow is an entry of testdata/controllers.txt: client requests and the resulting writes
// of a controller.
type controllerRow struct {
	controller       string
	requests, writes []string
}

const (
	pods  = "/api/v1/namespaces/$/pods"
	podOf = `"spec":{"serviceAccountName":"own","automountServiceAccountToken":false,"containers":[{"name":"c","image":"i"}]`
)

func readControllers(t *testing.T) (rows []controllerRow) {
	for line := range strings.Lines(string(client.ReadFile(t, "testdata/controllers.txt"))) {
		line = strings.TrimRight(line, "\n")
		text, isPart := strings.CutPrefix(line, "\t")
		write, isWrite := strings.CutPrefix(text, "writes ")
		switch {
		case line[0] == '#':
		case !isPart:
			rows = append(rows, controllerRow{controller: line})
		case isWrite:
			r := &rows[len(rows)-1]
			r.writes = append(r.writes, write)
		default:
			r := &rows[len(rows)-1]
			r.requests = append(r.requests, text)
		}
	}
	return rows
}

// TestControllersAreAdmitted checks that admission applies to writes of the controllers that
// Kubernetes runs in kube-controller-manager. The webhook receives each write with the server's
// user name, and a policy blocks the writes until it is deleted.
func TestControllersAreAdmitted(t *testing.T) {
	t.Parallel()
	rows, h := readControllers(t), startWebhooks(t, allow)
	dir, log := t.TempDir(), &client.Log{}
	s := serveControllers(t, dir, log, daemon.TestControllers)
	s.register(validating, "records", webhookHook{name: "records.example.com"}.text(h))
	s.stopControllers("denied")
	for _, run := range []string{"seen00", "denied"} {
		s.perform(run, `POST /api/v1/namespaces {"metadata":{"name":"$"}}`)
		for _, name := range []string{"ended1", "ended2"} { // the Pod garbage collector checks at startup and then rarely
			s.perform(run, `POST /api/v1/namespaces/$/serviceaccounts {"metadata":{"name":"early"}}`)
			s.perform(run, `POST `+pods+` {"metadata":{"name":"`+name+`"},`+strings.Replace(podOf, "own", "early", 1)+`}}`)
			s.perform(run, `STATUS `+pods+`/`+name+` {"status":{"phase":"Failed"}}`)
		}
	}
	s.Stop(t)
	s = serveControllers(t, dir, log, "*,bootstrap-signer-controller,token-cleaner-controller,node-lifecycle-controller,taint-eviction-controller,workloads")
	for _, run := range []string{"seen00", "denied"} {
		for _, r := range rows {
			s.perform(run, r.requests...)
		}
	}
	var asked []question
	s.wantWrites(h, &asked, "seen00", rows)
	for _, r := range rows { // the first write is blocked, so the others do not occur
		operation, rest, _ := strings.Cut(r.writes[0], " ")
		resource, _, _ := strings.Cut(rest, " ")
		client.Eventually(t, func() error {
			if text := "stopped " + operation + " " + resource + ";"; !strings.Contains(log.String(), text) {
				return fmt.Errorf("%s: %q is not in the log", r.controller, text)
			}
			return nil
		})
	}
	for _, q := range asked {
		if line := writeLine(q); q.isServers() && strings.Contains(line, "denied") {
			t.Errorf("not stopped: %s", line)
		}
	}
	s.Send(200, "DELETE", "/apis/admissionregistration.platform.io/v1/validatingadmissionpolicybindings/stop", "", "")
	s.wantWrites(h, &asked, "denied", slices.DeleteFunc(slices.Clone(rows), func(r controllerRow) bool { return r.controller == "pod-garbage-collector" })) // which checks again only after 20 seconds
}

func serveControllers(t *testing.T, dir string, log *client.Log, which daemon.Controllers) webhookSession {
	config := daemon.Default()
	config.DataDir, config.Serving.SecurePort, config.Controllers = dir, 0, which
	n := &config.Nodes
	n.TerminatedPodThreshold, n.AllocateCIDRs, n.ClusterCIDR = 1, true, "10.128.0.0/16"
	n.MonitorPeriod, n.StartupGracePeriod = daemon.Duration(50*time.Millisecond), daemon.Duration(100*time.Millisecond)
	config.Autoscaling.SyncPeriod = daemon.Duration(time.Second)
	return webhookSession{client.Session{Server: client.ServeConfig(t, config, log), Ctx: t.Context(), T: t}, "platform"}
}

// stopControllers creates a policy that rejects the server's writes to objects or namespaces whose
// names start or end with name.
func (s webhookSession) stopControllers(name string) {
	s.T.Helper()
	const group = "/apis/admissionregistration.platform.io/v1/"
	s.Send(201, "POST", group+"validatingadmissionpolicies", client.JSON, fmt.Sprintf(`{"metadata":{"name":"stop"},"spec":{
		"matchConstraints":{"resourceRules":[{"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*/*"]}]},
		"matchConditions":[{"name":"server","expression":"request.userInfo.username == 'system:apiserver' && [request.?namespace.orValue(''), request.?name.orValue('')].exists(n, n.startsWith('%[1]s') || n.endsWith('%[1]s'))"}],
		"validations":[{"expression":"false","messageExpression":"'stopped ' + request.operation + ' ' + request.resource.resource + '/' + request.?subResource.orValue('') + ';'"}]}}`, name))
	s.Send(201, "POST", group+"validatingadmissionpolicybindings", client.JSON, `{"metadata":{"name":"stop"},"spec":{"policyName":"stop","validationActions":["Deny"]}}`)
}

// perform sends the requests of a row. It replaces $ in names with run, to create separate objects
// for each run.
func (s webhookSession) perform(run string, requests ...string) {
	s.T.Helper()
	cidr := map[string]string{"seen00": "10.100.0.0/24", "denied": "10.200.0.0/24"}
	values := strings.NewReplacer("$", run, "NOW", time.Now().UTC().Format(time.RFC3339), "CIDR", cidr[run], "REQUEST", nodeRequest(s.T, run))
	for _, r := range requests {
		method, rest, _ := strings.Cut(values.Replace(r), " ")
		path, body, _ := strings.Cut(rest, " ")
		switch method {
		case "STATUS", "APPROVAL":
			s.Send(200, "PATCH", path+"/"+strings.ToLower(method), "application/merge-patch+json", body)
		case "POST":
			if a, err := s.Do(s.Ctx, method, path, client.JSON, []byte(body)); err != nil || a.Code != 201 && a.Code != 409 {
				s.T.Fatalf("%s: %v, %v", r, a, err)
			}
		default:
			if a, err := s.Do(s.Ctx, method, path, client.JSON, nil); err != nil || a.Code >= 300 {
				s.T.Fatalf("%s: %v, %v", r, a, err)
			}
		}
	}
}

// wantWrites waits until the webhook has received the writes of all rows. It appends the reviews to
// asked.
func (s webhookSession) wantWrites(h *hookServer, asked *[]question, run string, rows []controllerRow) {
	s.T.Helper()
	client.Eventually(s.T, func() error {
		*asked = append(*asked, h.take()...)
		var missing []error
		for _, r := range rows {
			for _, w := range r.writes {
				if !wasAsked(*asked, strings.ReplaceAll(w, "$", run)) {
					missing = append(missing, fmt.Errorf("%s: not asked about %s for %s", r.controller, w, run))
				}
			}
		}
		return errors.Join(missing...)
	})
}

// wasAsked reports whether a review contains the given server write.
func wasAsked(asked []question, write string) bool {
	for _, q := range asked {
		line := writeLine(q)
		head, text := write, ""
		if parts := strings.SplitN(write, " ", 4); len(parts) == 4 {
			head, text = strings.Join(parts[:3], " "), parts[3]
		}
		if q.isServers() && strings.HasPrefix(line, head) && strings.Contains(line, text) {
			return true
		}
	}
	return false
}

// writeLine formats a reviewed request and its object like a write in testdata/controllers.txt.
func writeLine(q question) string {
	name := q.text("name")
	if name == "" {
		name = q.text("object", "metadata", "name")
	}
	body, _ := json.Marshal(at(q.request(), "object"))
	return fmt.Sprintf("%s %s/%s %s/%s %s", q.text("operation"), q.text("resource", "resource"), q.text("subResource"), q.text("namespace"), name, body)
}

func nodeRequest(t *testing.T, node string) string {
	t.Helper()
	subject := pkix.Name{CommonName: "system:node:" + node, Organization: []string{"system:nodes"}}
	return base64.StdEncoding.EncodeToString(pki.Request(t, x509.CertificateRequest{Subject: subject}, pki.NewKey(t)))
}
