package storage

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/persist/vfs"
	"github.com/troupe-api/troupe/test/client"
)

const shortReplicaHistories = 15

// TestSimulationReplicas runs one history of two or three servers on a model of etcd per seed:
// seeds that have failed before, and then as many others as time permits. The test covers promises
// 43 to 47 of docs/reliability.md.
func TestSimulationReplicas(t *testing.T) {
	kinds := must.Get(catalog.New(meta.Platform))(t)
	startClockOfFasthttp(t, kinds)
	sum, began := replicasHistory{}, time.Now()
	operations, open, seeds := 0, 0, 0
	run := func(seed uint64) {
		h, err := checkReplicas(t, kinds, seed, replicaStepsOf(seed))
		if err != nil {
			reportReplicas(t, kinds, seed, err)
			return
		}
		seeds++
		operations += len(h.record)
		for _, op := range h.record {
			if op.Output.(output).code == 0 {
				open++
			}
		}
		sum.crashes, sum.restores = sum.crashes+h.crashes, sum.restores+h.restores
	}
	if os.Getenv("TROUPE_SEED") != "" {
		run(client.Seed(t, 0))
		return
	}
	for _, seed := range keptSeeds(t, "replicas") {
		run(seed)
	}
	for seed := range client.Rounds(t, shortReplicaHistories, 1) {
		if run(uint64(seed)); t.Failed() {
			return
		}
	}
	if open == 0 || sum.crashes == 0 || sum.restores == 0 {
		t.Errorf("too little has happened: %d open requests, %d crashes, %d restores", open, sum.crashes, sum.restores)
	}
	client.Figures(t, "%d histories of replicas, %d operations, %d of them open, %d crashes, %d restores, in %v", seeds, operations, open, sum.crashes, sum.restores, time.Since(began).Round(time.Second))
}

// startClockOfFasthttp makes fasthttp start its goroutine for the Date header, which never ends,
// outside of a bubble.
func startClockOfFasthttp(t *testing.T, kinds *catalog.Catalog) {
	t.Helper()
	s := must.Get(serveSimulation(kinds, vfs.NewMem(), time.Now, time.Minute))(t)
	must.Get(s.Get(t.Context(), "/livez"))(t)
	must.Succeed(t, s.stop())
}

// checkReplicas runs steps in a bubble, and checks the responses outside of it, because porcupine
// measures the time.
func checkReplicas(t *testing.T, kinds *catalog.Catalog, seed uint64, steps []replicaStep) (h *replicasHistory, err error) {
	defer func() {
		if p := recover(); p != nil { // a request was never answered, for example
			err = errors.Join(err, fmt.Errorf("%v", p))
		}
	}()
	synctest.Test(t, func(*testing.T) { h, err = runReplicas(kinds, seed, steps) })
	if err != nil {
		return h, err
	}
	for _, part := range model.Partition(h.record) {
		if result := porcupine.CheckOperationsTimeout(model, part, client.Watchdog); result != porcupine.Ok {
			return h, fmt.Errorf("%s:\n%s", result, lines(part))
		}
	}
	return h, nil
}

// maxShrinks limits the runs that look for fewer steps.
const maxShrinks = 60

// reportReplicas fails the test with the fewest steps that it finds to fail.
func reportReplicas(t *testing.T, kinds *catalog.Catalog, seed uint64, err error) {
	t.Helper()
	t.Errorf("seed %d: %v\nTROUPE_SEED=%d runs it again; testdata/simulation/replicas keeps it", seed, err, seed)
	steps, left := replicaStepsOf(seed), maxShrinks
	fails := func(some []replicaStep) (*replicasHistory, error) {
		left--
		return checkReplicas(t, kinds, seed, some)
	}
	last, fault := fails(steps)
	if fault == nil {
		t.Log("it does not fail again")
		return
	}
	for size := len(steps) / 2; size > 0 && left > 0; size /= 2 {
		for from := len(steps) - size; from >= 0 && left > 0; from -= size {
			fewer := slices.Concat(steps[:from], steps[from+size:])
			if h, err := fails(fewer); err != nil {
				steps, last, fault = fewer, h, err
			}
		}
	}
	t.Logf("%d steps fail, too: %v\n%s", len(steps), fault, strings.Join(last.trace, "\n"))
}
