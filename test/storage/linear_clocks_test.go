//go:build etcd

package storage

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/test/client"
)

// briefly is a configuration with a watch history shorter than the clock skew.
const briefly = linearSettings + `
watch-history-time: 10s
`

// TestClocksOfDaemonsDiffer skews the servers' clocks by more than the controllers' lease duration
// and the watch history, but less than the clock tolerance for tokens. Tokens from one server must
// be valid at the others, and only one server at a time may run the controllers. Racing clients
// must see a linearizable history despite faults.
func TestClocksOfDaemonsDiffer(t *testing.T) {
	off := [3]time.Duration{0, -25 * time.Second, 25 * time.Second}
	c := newClusterWith(t, briefly, must.Get(client.BuildTroupeWithClock(t.TempDir()))(t), off)
	for i, r := range c.replicas {
		before := time.Now().Truncate(time.Second)
		a, err := r.Create(t.Context(), configMaps, client.ConfigMap(fmt.Sprint("c-", i), nil, nil))
		if err != nil || a.Code != 201 {
			t.Fatal(a, err)
		}
		made, err := time.Parse(time.RFC3339, fmt.Sprint(a.Object().At("metadata.creationTimestamp")))
		if at := made.Add(-off[i]); err != nil || at.Before(before) || at.After(time.Now()) {
			t.Fatalf("the clock of daemon %d is %v off, %v, want %v", i, time.Until(made), err, off[i])
		}
		c.create(r, fmt.Sprint("d-", i))
		c.create(r, fmt.Sprint("e-", i))
	}
	type object = map[string]any
	for i, one := range c.replicas {
		first := one.page("")
		account := fmt.Sprint("account-", i)
		if a, err := one.send(t, "POST", "/api/v1/namespaces/default/serviceaccounts", "", object{"metadata": object{"name": account}}); err != nil || a.Code != 201 {
			t.Fatal(a, err)
		}
		a, err := one.send(t, "POST", "/api/v1/namespaces/default/serviceaccounts/"+account+"/token", "", object{})
		var token struct{ Status struct{ Token string } }
		if err != nil || json.Unmarshal(a.Body, &token) != nil || token.Status.Token == "" {
			t.Fatal(a, err)
		}
		for k, other := range c.replicas {
			if names, last := rest(first.Metadata.Continue, other); names != "c-2 d-0 d-1 d-2 e-0 e-1 e-2 " || last.Metadata.ResourceVersion != first.Metadata.ResourceVersion {
				t.Errorf("a list of daemon %d goes on at daemon %d with %s, and then %+v", i, k, names, last)
			}
			if a, err := other.send(t, "GET", configMaps, token.Status.Token, nil); err != nil || a.Code != 403 {
				t.Errorf("a token of daemon %d at daemon %d: %v, %v, want 403", i, k, a, err)
			}
		}
	}
	leader := c.leader(nil)
	leader.kill()
	c.leader(leader)
	leader.start()
	c.race(faultRounds)
	var version uint64
	client.Eventually(t, func() error { // done by the leader after the faults
		a, err := c.Get(t.Context(), controllersLease)
		if err == nil && a.Code != 200 {
			err = &a
		}
		if err != nil {
			return err
		}
		if now := a.Object().Version(); version == 0 || now == version || a.Object().At("spec.holderIdentity") == "" {
			version = now
			return errors.New("the Lease of the controllers is not renewed")
		}
		return nil
	})
}
