package scenario

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/troupe-api/troupe/bench/internal/measure"
	"github.com/troupe-api/troupe/bench/internal/server"
	"golang.org/x/sync/errgroup"
)

// The delay is that of a webhook in the same cluster, so that calls take much longer than writes.
const (
	webhookWriters = 32                   // half of which write where a webhook is asked
	webhookDelay   = 5 * time.Millisecond // of its answer
)

// webhooks: updates in two namespaces, by half of the writers each; first without a webhook, and then with
// one that is asked about those in one of the namespaces. The server has to reach it on this machine.
// Writers beside it should not notice: a server that waits for webhooks where it decides would slow all of
// them down. The configuration is removed again before the namespaces, whose own deletion would otherwise
// be asked about.
func webhooks(ctx context.Context, s *Session) ([]Result, error) {
	free, err := s.prepare(ctx, s.hotCount())
	if err != nil {
		return nil, err
	}
	defer free.remove()
	asked, err := s.prepare(ctx, s.hotCount())
	if err != nil {
		return nil, err
	}
	defer asked.remove()
	group, err := s.group("admissionregistration")
	if err != nil {
		return nil, err
	}
	before, _, err := driveBoth(ctx, s, free, asked)
	if err != nil {
		return nil, err
	}
	remove, err := asked.registerWebhook(group)
	if err != nil {
		return nil, err
	}
	defer remove()
	beside, under, err := driveBoth(ctx, s, free, asked)
	if err != nil {
		return nil, err
	}
	return []Result{{Name: "webhooks, none", Sample: before}, {Name: "webhooks, beside", Sample: beside}, {Name: "webhooks, asked", Sample: under}}, nil
}

// driveBoth updates the objects of two fixtures at the same time. Both have half of the clients, so the
// loads compare with each other.
func driveBoth(ctx context.Context, s *Session, a, b *fixture) (ofA, ofB *measure.Sample, err error) {
	load := s.load()
	// Whatever --concurrency says: both loads are to be the same in every report.
	load.Concurrency = webhookWriters / 2
	var both errgroup.Group
	both.Go(func() (err error) { ofA, err = load.Drive(ctx, s.Target, a.put(a.total)); return err })
	both.Go(func() (err error) { ofB, err = load.Drive(ctx, s.Target, b.put(b.total)); return err })
	err = both.Wait()
	return ofA, ofB, err
}

// registerWebhook lets a webhook be asked about all that is written in the namespace. The namespace is
// labelled first, since the webhook finds it by that.
func (f *fixture) registerWebhook(group string) (remove func(), err error) {
	hook := httptest.NewTLSServer(http.HandlerFunc(allowLate))
	c := f.session.Target.Conn()
	configurations := "/apis/" + group + "/v1/validatingwebhookconfigurations"
	// The configuration goes before the webhook does, or writes would wait for one that does not answer.
	remove = func() {
		defer hook.Close()
		defer c.Close()
		if err := removeAll(c, configurations+"/"+f.namespace); err != nil {
			f.session.Note("clean-up of %s: %v", f.namespace, err)
		}
	}
	bundle := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: hook.Certificate().Raw})
	body := fmt.Appendf(nil, `{"apiVersion":"%s/v1","kind":"ValidatingWebhookConfiguration","metadata":{"name":%q},"webhooks":[{"name":"late.bench.example.com",`+
		`"rules":[{"operations":["*"],"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"]}],"namespaceSelector":{"matchLabels":{"bench":%q}},`+
		`"sideEffects":"None","admissionReviewVersions":["v1"],"clientConfig":{"url":%q,"caBundle":%q}}]}`,
		group, f.namespace, f.namespace, hook.URL, base64.StdEncoding.EncodeToString(bundle))
	label := fmt.Appendf(nil, `{"metadata":{"labels":{"bench":%q}}}`, f.namespace)
	if _, err = c.Expect(http.StatusOK, http.MethodPatch, f.namespacePath(), server.TypeMergePatch, label); err == nil {
		_, err = c.Expect(http.StatusCreated, http.MethodPost, configurations, server.TypeJSON, body)
	}
	if err != nil {
		remove()
		return nil, err
	}
	return remove, nil
}

// allowLate is the webhook. It answers in the version in which it was asked.
func allowLate(w http.ResponseWriter, r *http.Request) {
	var review struct {
		APIVersion string `json:"apiVersion"`
		Request    struct {
			UID string `json:"uid"`
		} `json:"request"`
	}
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	time.Sleep(webhookDelay)
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"apiVersion":%q,"kind":"AdmissionReview","response":{"uid":%q,"allowed":true}}`, review.APIVersion, review.Request.UID)
}
