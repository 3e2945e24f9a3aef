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

// A controllerRow is what a controller of the server has to do, and what it then writes. In paths, bodies and writes, $ is the name of
// the run, and of the namespace and of the objects that are made for it.
type controllerRow struct {
	controller string
	requests   []string // each "METHOD path body", or "STATUS path body" for a merge patch of a status
	writes     []string // each "OPERATION resource/sub-resource namespace/name", of which the name may be the beginning only, and a text of the object after a space
}

const (
	pods   = "/api/v1/namespaces/$/pods"
	podOf  = `"spec":{"serviceAccountName":"own","automountServiceAccountToken":false,"containers":[{"name":"c","image":"i"}]`
	claims = "/api/v1/namespaces/$/persistentvolumeclaims"
	jobs   = "/apis/batch/v1/namespaces/$/jobs"
)

var controllerRows = []controllerRow{
	{"endpoints", []string{`POST /api/v1/namespaces/$/services {"metadata":{"name":"selects"},"spec":{"selector":{"a":"b"},"ports":[{"port":80}]}}`},
		[]string{"CREATE endpoints/ $/selects"}},
	{"endpointslice", nil, []string{"CREATE endpointslices/ $/selects-"}},
	{"endpointslice-mirroring", []string{
		`POST /api/v1/namespaces/$/services {"metadata":{"name":"mirrored"},"spec":{"ports":[{"port":80}]}}`,
		`POST /api/v1/namespaces/$/endpoints {"metadata":{"name":"mirrored"},"subsets":[{"addresses":[{"ip":"10.1.2.3"}],"ports":[{"port":80}]}]}`},
		[]string{"CREATE endpointslices/ $/mirrored-"}},
	{"root-ca-certificate-publisher", nil, []string{"CREATE configmaps/ $/platform-root-ca.crt"}},
	{"serviceaccount", nil, []string{"CREATE serviceaccounts/ $/default"}},
	{"serviceaccount-token-secret", []string{`POST /api/v1/namespaces/$/serviceaccounts {"metadata":{"name":"own"}}`},
		[]string{"CREATE secrets/ $/own-token-", "UPDATE serviceaccounts/ $/own own-token-"}},
	{"serviceaccount-token", []string{`POST /api/v1/namespaces/$/serviceaccounts {"metadata":{"name":"other"}}`,
		`POST /api/v1/namespaces/$/secrets {"metadata":{"name":"asked","annotations":{"platform.io/service-account.name":"other"}},"type":"platform.io/service-account-token"}`},
		[]string{`UPDATE secrets/ $/asked "ca.crt"`}},
	{"persistentvolume-binder", []string{
		`POST /api/v1/persistentvolumes {"metadata":{"name":"$"},"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],"hostPath":{"path":"/x"},"storageClassName":"$"}}`,
		`POST ` + claims + ` {"metadata":{"name":"bound"},"spec":{"resources":{"requests":{"storage":"1Gi"}},"accessModes":["ReadWriteOnce"],"storageClassName":"$"}}`},
		[]string{"UPDATE persistentvolumes/status /$", "UPDATE persistentvolumes/ /$ claimRef", "UPDATE persistentvolumeclaims/ $/bound volumeName", "UPDATE persistentvolumeclaims/status $/bound Bound"}},
	{"persistentvolumeclaim-protection", []string{
		`POST ` + claims + ` {"metadata":{"name":"goes"},"spec":{"resources":{"requests":{"storage":"1Gi"}},"accessModes":["ReadWriteOnce"],"storageClassName":"none"}}`,
		`DELETE ` + claims + `/goes`}, []string{"UPDATE persistentvolumeclaims/ $/goes deletionTimestamp"}},
	{"persistentvolume-protection", []string{
		`POST /api/v1/persistentvolumes {"metadata":{"name":"$-goes"},"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],"hostPath":{"path":"/x"}}}`,
		`DELETE /api/v1/persistentvolumes/$-goes`}, []string{"UPDATE persistentvolumes/ /$-goes deletionTimestamp"}},
	{"ephemeral-volume", []string{`POST ` + pods + ` {"metadata":{"name":"ephemeral"},` + podOf + `,"volumes":[{"name":"v","ephemeral":{"volumeClaimTemplate":{"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}}}]}}`},
		[]string{"CREATE persistentvolumeclaims/ $/ephemeral-v"}},
	{"ttl-after-finished", []string{
		`POST ` + jobs + ` {"metadata":{"name":"over"},"spec":{"suspend":true,"ttlSecondsAfterFinished":0,"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}}`,
		`STATUS ` + jobs + `/over {"status":{"startTime":"NOW","conditions":[{"type":"FailureTarget","status":"True","lastTransitionTime":"NOW"},{"type":"Failed","status":"True","lastTransitionTime":"NOW"}]}}`},
		[]string{"DELETE jobs/ $/over"}},
	{"disruption", []string{`POST /apis/policy/v1/namespaces/$/poddisruptionbudgets {"metadata":{"name":"b"},"spec":{"minAvailable":1,"selector":{"matchLabels":{"a":"b"}}}}`},
		[]string{"UPDATE poddisruptionbudgets/status $/b"}},
	{"node-lifecycle", []string{`POST /api/v1/nodes {"metadata":{"name":"$"}}`},
		[]string{"UPDATE nodes/status /$ NodeStatusNeverUpdated", "UPDATE nodes/ /$ unreachable"}},
	{"node-ipam", nil, []string{"UPDATE nodes/ /$ podCIDR"}},
	{"taint-eviction", []string{
		`POST /api/v1/nodes {"metadata":{"name":"$-tainted"},"spec":{"taints":[{"key":"k","effect":"NoExecute"}]}}`,
		`POST ` + pods + ` {"metadata":{"name":"evicted"},` + podOf + `,"nodeName":"$-tainted"}}`},
		[]string{"DELETE pods/ $/evicted"}},
	{"pod-garbage-collector", nil, []string{"DELETE pods/ $/ended"}},
	{"certificatesigningrequest-approving", []string{`POST /apis/certificates.platform.io/v1/certificatesigningrequests {"metadata":{"name":"$"},"spec":{"signerName":"platform.io/apiserver-client-node","usages":["digital signature","key encipherment","client auth"],"request":"REQUEST"}}`},
		[]string{"UPDATE certificatesigningrequests/approval /$"}},
	{"certificatesigningrequest-signing", []string{
		`POST /apis/certificates.platform.io/v1/certificatesigningrequests {"metadata":{"name":"$-signed"},"spec":{"signerName":"platform.io/apiserver-client","usages":["client auth"],"request":"REQUEST"}}`,
		`APPROVAL /apis/certificates.platform.io/v1/certificatesigningrequests/$-signed {"status":{"conditions":[{"type":"Approved","status":"True"}]}}`},
		[]string{"UPDATE certificatesigningrequests/status /$-signed"}},
	{"clusterrole-aggregation", []string{
		`POST /apis/rbac.authorization.platform.io/v1/clusterroles {"metadata":{"name":"$-part","labels":{"part":"$"}},"rules":[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]}`,
		`POST /apis/rbac.authorization.platform.io/v1/clusterroles {"metadata":{"name":"$"},"aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"part":"$"}}]}}`},
		[]string{"UPDATE clusterroles/ /$"}},
	{"service-cidr", []string{`POST /apis/networking.platform.io/v1/servicecidrs {"metadata":{"name":"$"},"spec":{"cidrs":["CIDR"]}}`},
		[]string{"UPDATE servicecidrs/ /$ finalizers", "UPDATE servicecidrs/status /$ Ready"}},
	{"garbage-collector", []string{`POST /api/v1/namespaces/$/configmaps {"metadata":{"name":"orphan","ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"nobody","uid":"6a52a3ac-3a39-4a1b-a8a3-0d1b0b5e7f4e"}]}}`},
		[]string{"DELETE configmaps/ $/orphan"}},
	{"token-cleaner", []string{`POST /api/v1/namespaces/platform-system/secrets {"metadata":{"name":"bootstrap-token-$"},"type":"bootstrap.platform.io/token","stringData":{"token-id":"$","token-secret":"0123456789abcdef","expiration":"2020-01-01T00:00:00Z"}}`},
		[]string{"DELETE secrets/ platform-system/bootstrap-token-$"}},
	{"volumeattributesclass-protection", []string{
		`POST /apis/storage.platform.io/v1/volumeattributesclasses {"metadata":{"name":"$"},"driverName":"d.example.com","parameters":{"a":"b"}}`,
		`DELETE /apis/storage.platform.io/v1/volumeattributesclasses/$`}, []string{"UPDATE volumeattributesclasses/ /$ deletionTimestamp"}},
	{"deployment", []string{`POST /apis/apps/v1/namespaces/$/deployments {"metadata":{"name":"d"},"spec":{"selector":{"matchLabels":{"a":"d"}},"template":{"metadata":{"labels":{"a":"d"}},` + podOf + `}}}}`},
		[]string{"UPDATE deployments/status $/d", "CREATE replicasets/ $/d-"}},
	{"replicaset", []string{`POST /apis/apps/v1/namespaces/$/replicasets {"metadata":{"name":"r"},"spec":{"selector":{"matchLabels":{"a":"r"}},"template":{"metadata":{"labels":{"a":"r"}},` + podOf + `}}}}`},
		[]string{"CREATE pods/ $/r-", "UPDATE replicasets/status $/r"}},
	{"cronjob", []string{`POST /apis/batch/v1/namespaces/$/cronjobs {"metadata":{"name":"c"},"spec":{"schedule":"@every 1s","jobTemplate":{"spec":{"suspend":true,"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}}}}`},
		[]string{"CREATE jobs/ $/c-"}},
	{"horizontal-pod-autoscaler", []string{`POST /apis/autoscaling/v2/namespaces/$/horizontalpodautoscalers {"metadata":{"name":"h"},"spec":{"maxReplicas":2,"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"nothing"}}}`},
		[]string{"UPDATE horizontalpodautoscalers/status $/h"}},
	{"namespace", []string{`POST /api/v1/namespaces {"metadata":{"name":"$-goes"}}`, `POST /api/v1/namespaces/$-goes/limitranges {"metadata":{"name":"l"}}`, `DELETE /api/v1/namespaces/$-goes`},
		[]string{"DELETE limitranges/ $-goes/l", "UPDATE namespaces/finalize $-goes/$-goes"}},
}

// TestControllersAreAdmitted: what controllers write that belong to kube-controller-manager elsewhere is admitted, under the name of the
// server. The webhook is asked about each write; a policy that refuses it stops it, and it is done when the policy has gone.
func TestControllersAreAdmitted(t *testing.T) {
	t.Parallel()
	h := startWebhooks(t, allow)
	dir, log := t.TempDir(), &client.Log{}
	s := serveControllers(t, dir, log, daemon.TestControllers)
	s.register(validating, "records", webhookHook{name: "records.example.com"}.text(h))
	s.stopControllers("denied")
	for _, run := range []string{"seen00", "denied"} {
		s.perform(run, `POST /api/v1/namespaces {"metadata":{"name":"$"}}`)
		for _, name := range []string{"ended1", "ended2"} { // the collector of Pods looks when it starts, and then not for long
			s.perform(run, `POST /api/v1/namespaces/$/serviceaccounts {"metadata":{"name":"early"}}`)
			s.perform(run, `POST `+pods+` {"metadata":{"name":"`+name+`"},`+strings.Replace(podOf, "own", "early", 1)+`}}`)
			s.perform(run, `STATUS `+pods+`/`+name+` {"status":{"phase":"Failed"}}`)
		}
	}
	s.Stop(t)
	s = serveControllers(t, dir, log, "*,bootstrap-signer-controller,token-cleaner-controller,node-lifecycle-controller,taint-eviction-controller,workloads")
	for _, run := range []string{"seen00", "denied"} {
		for _, r := range controllerRows {
			s.perform(run, r.requests...)
		}
	}
	var asked []question
	s.wantWrites(h, &asked, "seen00", controllerRows)
	for _, r := range controllerRows { // the first write is stopped, and so there is none of the others
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
	s.wantWrites(h, &asked, "denied", slices.DeleteFunc(slices.Clone(controllerRows), func(r controllerRow) bool { return r.controller == "pod-garbage-collector" })) // which looks again in 20 seconds
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

// stopControllers refuses what the server writes in a namespace of a name, or under a name that begins or ends so.
func (s webhookSession) stopControllers(name string) {
	s.T.Helper()
	const group = "/apis/admissionregistration.platform.io/v1/"
	s.Send(201, "POST", group+"validatingadmissionpolicies", client.JSON, fmt.Sprintf(`{"metadata":{"name":"stop"},"spec":{
		"matchConstraints":{"resourceRules":[{"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*/*"]}]},
		"matchConditions":[{"name":"server","expression":"request.userInfo.username == 'system:apiserver' && [request.?namespace.orValue(''), request.?name.orValue('')].exists(n, n.startsWith('%[1]s') || n.endsWith('%[1]s'))"}],
		"validations":[{"expression":"false","messageExpression":"'stopped ' + request.operation + ' ' + request.resource.resource + '/' + request.?subResource.orValue('') + ';'"}]}}`, name))
	s.Send(201, "POST", group+"validatingadmissionpolicybindings", client.JSON, `{"metadata":{"name":"stop"},"spec":{"policyName":"stop","validationActions":["Deny"]}}`)
}

// perform sends the requests of a row for a run.
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

// wantWrites waits until a webhook has been asked about all writes of all rows for a run.
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

// wasAsked tells whether one of the questions is about a write of the server.
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

// writeLine is what a question is about, and the object.
func writeLine(q question) string {
	name := q.text("name")
	if name == "" {
		name = q.text("object", "metadata", "name")
	}
	body, _ := json.Marshal(at(q.request(), "object"))
	return fmt.Sprintf("%s %s/%s %s/%s %s", q.text("operation"), q.text("resource", "resource"), q.text("subResource"), q.text("namespace"), name, body)
}

// nodeRequest is a certificate request in the name of a node, as the API has it.
func nodeRequest(t *testing.T, node string) string {
	t.Helper()
	subject := pkix.Name{CommonName: "system:node:" + node, Organization: []string{"system:nodes"}}
	return base64.StdEncoding.EncodeToString(pki.Request(t, x509.CertificateRequest{Subject: subject}, pki.NewKey(t)))
}
