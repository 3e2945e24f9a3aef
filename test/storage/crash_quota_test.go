package storage

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/test/client"
)

// TestQuotasOverKills kills the daemon repeatedly while clients create and delete objects. The
// quota must never be exceeded. After a restart, it must not reject requests below its limit, and
// must report the correct usage. The test covers promise 42 of docs/reliability.md.
func TestQuotasOverKills(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	binary, config := build(t, dir)
	data := filepath.Join(dir, "data")
	p := start(t, binary, config, data)
	ctx := t.Context()
	if a, err := p.Create(ctx, quotas, []byte(`{"metadata":{"name":"q"},"spec":{"hard":{"configmaps":"`+strconv.Itoa(limit)+`"}}}`)); err != nil || a.Code != 201 {
		t.Fatalf("%v, %v", a, err)
	}
	for round := range 6 {
		loading, stop := context.WithCancel(ctx)
		var load sync.WaitGroup
		var answered client.Tally
		for i := range 16 {
			load.Go(func() { churnCrash(loading, p.Client, &answered, fmt.Sprintf("c-%d-%d", round, i)) })
		}
		client.Receive(t, answered.After(100+50*round), "answers")
		must.Succeed(t, p.kill())
		stop()
		load.Wait()
		p = start(t, binary, config, data)
		checkUsed(t, p, round)
		fill(t, p, round)
	}
}

const (
	quotas = "/api/v1/namespaces/default/resourcequotas"
	limit  = 40
)

// churnCrash creates objects and deletes most of them until the server stops responding.
func churnCrash(ctx context.Context, c *client.Client, answered *client.Tally, name string) {
	for k := 0; ctx.Err() == nil; k++ {
		object := fmt.Sprintf("%s-%d", name, k)
		if _, err := c.Create(ctx, configMaps, client.ConfigMap(object, nil, nil)); err != nil {
			return
		}
		answered.Add()
		if k%4 == 0 {
			continue
		}
		if _, err := c.Delete(ctx, configMaps+"/"+object, nil); err != nil {
			return
		}
		answered.Add()
	}
}

func count(t *testing.T, p *crashProcess) int {
	t.Helper()
	list := must.Get(p.List(t.Context(), configMaps, nil))(t)
	return len(list.Items)
}

// checkUsed checks that the quota reports the correct usage soon after a restart.
func checkUsed(t *testing.T, p *crashProcess, round int) {
	t.Helper()
	there := count(t, p)
	if there > limit {
		t.Fatalf("round %d: %d objects", round, there)
	}
	quick := client.Quick(t, 10*time.Second, "counting what is used")
	client.Eventually(t, func() error {
		a, err := p.Get(t.Context(), quotas+"/q")
		if err != nil {
			return err
		}
		var q struct {
			Status struct{ Used map[string]string }
		}
		if err := json.Unmarshal(a.Body, &q); err != nil {
			return err
		}
		if used := q.Status.Used["configmaps"]; used != strconv.Itoa(there) {
			return fmt.Errorf("round %d: used is %s, %d are there", round, used, there)
		}
		return nil
	})
	// On a shared etcd, controllers start only after the killed daemon's Lease has expired.
	if !client.OnEtcd() {
		quick()
	}
}

// fill tries to create more objects than the quota allows, and checks that it can create exactly
// the allowed number. It then deletes half of them.
func fill(t *testing.T, p *crashProcess, round int) {
	t.Helper()
	var creating sync.WaitGroup
	for i := range limit {
		creating.Go(func() {
			a, err := p.Create(t.Context(), configMaps, client.ConfigMap(fmt.Sprintf("fill-%d-%d", round, i), nil, nil))
			if err != nil || a.Code != 201 && a.Code != 403 {
				t.Errorf("round %d: %v, %v", round, a, err)
			}
		})
	}
	creating.Wait()
	if there := count(t, p); there != limit {
		t.Errorf("round %d: %d objects, limited to %d", round, there, limit)
	}
	list := must.Get(p.List(t.Context(), configMaps, nil))(t)
	for _, o := range list.Items[:limit/2] {
		if a, err := p.Delete(t.Context(), configMaps+"/"+o.Name(), nil); err != nil || a.Code != 200 {
			t.Fatalf("%v, %v", a, err)
		}
	}
}
