package storage

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

const (
	leases       = "/apis/coordination.platform.io/v1/namespaces/platform-system/leases"
	namespaces   = "/api/v1/namespaces"
	definitions  = "/apis/apiextensions.platform.io/v1/customresourcedefinitions"
	apiServices  = "/apis/apiregistration.platform.io/v1/apiservices"
	flowSchemas  = "/apis/flowcontrol.apiserver.platform.io/v1/flowschemas"
	typeMerge    = "application/merge-patch+json"
	standsBack   = "another process holds the Lease: pausing the built-in controllers of this kind"
	takesOver    = "no process holds the Lease: resuming the built-in controllers of this kind"
	leaderOfLong = `{"metadata":{"name":"platform-controller-manager"},"spec":{"holderIdentity":"other","leaseDurationSeconds":3600,"renewTime":%q}}`
)

// A standIn is a running server for which the test acts as kube-controller-manager.
type standIn struct {
	client.Session
	log *client.Log
}

func serveStandIn(t *testing.T, dir string, log *client.Log) standIn {
	t.Helper()
	config := daemon.Default()
	config.DataDir, config.Serving.SecurePort = dir, 0
	return standIn{client.Session{Server: client.ServeConfig(t, config, log), Ctx: t.Context(), T: t}, log}
}

// logs waits until the log contains a text at least n times.
func (s standIn) logs(text string, n int) {
	s.T.Helper()
	client.Eventually(s.T, func() error {
		if have := strings.Count(s.log.String(), text); have < n {
			return fmt.Errorf("%q is in the log %d times, want %d", text, have, n)
		}
		return nil
	})
}

func (s standIn) namespace(name string) {
	s.T.Helper()
	s.Send(201, "POST", namespaces, client.JSON, `{"metadata":{"name":"`+name+`"}}`)
}

// ignored creates namespaces until the paused controllers ignore one, and returns its name. The
// controllers may handle the first namespaces, because they pause only after the log line.
func (s standIn) ignored(prefix string) string {
	s.T.Helper()
	for i := range 20 {
		name := fmt.Sprint(prefix, i)
		s.namespace(name)
		s.proveOwn(name + ".example.com")
		if s.hasAccount(name) != nil {
			return name
		}
	}
	s.T.Fatal("the controllers work while the Lease is held")
	return ""
}

// hasAccount returns nil if a namespace has the default ServiceAccount, which a controller creates.
func (s standIn) hasAccount(namespace string) error {
	a, err := s.Get(s.Ctx, namespaces+"/"+namespace+"/serviceaccounts/default")
	if err == nil && a.Code != 200 {
		err = &a
	}
	return err
}

// proveOwn waits until two of the API server's own controllers have acted. One creates the
// APIService of a CRD. The other reports whether the priority level of a FlowSchema exists.
func (s standIn) proveOwn(group string) {
	s.T.Helper()
	s.Send(201, "POST", definitions, client.JSON, `{"metadata":{"name":"things.`+group+`"},"spec":{"group":"`+group+`","scope":"Cluster",
		"names":{"plural":"things","singular":"thing","kind":"Thing","listKind":"ThingList"},
		"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`)
	client.Eventually(s.T, func() error {
		a, err := s.Get(s.Ctx, apiServices+"/v1."+group)
		if err == nil && a.Code != 200 {
			err = &a
		}
		return err
	})
	s.Send(201, "POST", flowSchemas, client.JSON, `{"metadata":{"name":"`+group+`"},"spec":{"priorityLevelConfiguration":{"name":"exempt"}}}`)
	client.Eventually(s.T, func() error {
		a := s.Send(200, "GET", flowSchemas+"/"+group, "", "")
		if !strings.Contains(string(a.Body), `"type":"Dangling","status":"False"`) {
			return &a
		}
		return nil
	})
}

// TestControllersStandBack checks that the controllers pause while another process holds the Lease
// of kube-controller-manager, even across a restart. The API server's own controllers continue.
// Once the Lease is released, expired or deleted, the controllers catch up.
func TestControllersStandBack(t *testing.T) {
	t.Parallel()
	dir, log := t.TempDir(), &client.Log{}
	s := serveStandIn(t, dir, log)
	s.namespace("before")
	client.Eventually(t, func() error { return s.hasAccount("before") })

	s.Send(201, "POST", leases, client.JSON, fmt.Sprintf(leaderOfLong, micro(time.Now())))
	s.logs(standsBack, 1)
	held := s.ignored("held")
	s.Stop(t)
	s = serveStandIn(t, dir, log)
	s.logs(standsBack, 2)
	if strings.Contains(log.String(), "before all controllers have prepared it") {
		t.Error("a start waits for a controller that stands back")
	}
	s.proveOwn("two.example.com")
	if s.hasAccount(held) == nil {
		t.Error("a twin works after a restart while the Lease is held")
	}

	lease := leases + "/platform-controller-manager"
	s.Send(200, "PATCH", lease, typeMerge, `{"spec":{"holderIdentity":""}}`)
	client.Eventually(t, func() error { return s.hasAccount(held) })
	s.logs(takesOver, 1)

	s.Send(200, "PATCH", lease, typeMerge, `{"spec":{"holderIdentity":"other"}}`)
	s.logs(standsBack, 3)
	deleted := s.ignored("deleted")
	s.Send(200, "DELETE", lease, client.JSON, "")
	client.Eventually(t, func() error { return s.hasAccount(deleted) })

	renewed := micro(time.Now())
	s.Send(201, "POST", leases, client.JSON, strings.Replace(fmt.Sprintf(leaderOfLong, renewed), "3600", "1", 1))
	s.logs(standsBack, 4)
	s.namespace("expired")
	client.Eventually(t, func() error { return s.hasAccount("expired") })
	s.logs(takesOver, 3)
	s.Stop(t)

	// An old expired Lease has no effect at startup.
	s = serveStandIn(t, dir, log)
	s.namespace("abandoned")
	client.Eventually(t, func() error { return s.hasAccount("abandoned") })
	if strings.Count(log.String(), standsBack) != 4 {
		t.Error("an expired Lease counts")
	}
}

func micro(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000Z") }
