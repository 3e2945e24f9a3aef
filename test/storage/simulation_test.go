package storage

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/test/client"
)

const (
	shortHistories = 25
	together       = 6 // number of concurrent histories, which mostly wait
)

// TestSimulationHistories runs one history per seed: seeds that have failed before, and then as
// many others as time permits. The test covers promises 1 to 6, 8, 9, 12, 14, 17, 19, 20 and 23 to
// 25 of docs/reliability.md.
func TestSimulationHistories(t *testing.T) {
	kinds := must.Get(catalog.New(meta.Platform))(t)
	if text := os.Getenv("TROUPE_SEED"); text != "" {
		seed := must.Get(strconv.ParseUint(text, 10, 64))(t)
		if _, err := runSimulation(kinds, seed); err != nil {
			failed(t, seed, err)
		}
		return
	}
	var sum simulationHistory
	began, seeds := time.Now(), 0
	for _, seed := range keptSeeds(t, "seeds") {
		h, err := runSimulation(kinds, seed)
		if err != nil {
			failed(t, seed, err)
		}
		sum.add(h)
	}
	var running sync.WaitGroup
	var mu sync.Mutex // guards sum and seeds
	turns := make(chan struct{}, together)
	for seed := range client.Rounds(t, shortHistories, 1) {
		if t.Failed() {
			break
		}
		turns <- struct{}{}
		running.Go(func() {
			defer func() { <-turns }()
			h, err := runSimulation(kinds, uint64(seed))
			if err != nil {
				failed(t, uint64(seed), err)
			}
			mu.Lock()
			defer mu.Unlock()
			sum.add(h)
			seeds++
		})
	}
	running.Wait()
	if sum.lost == 0 || sum.full == 0 || sum.acknowledged < seeds {
		t.Errorf("too little has happened: %s", &sum)
	}
	client.Figures(t, "%d histories, %s, in %v", seeds, &sum, time.Since(began).Round(time.Second))
}

func failed(t *testing.T, seed uint64, err error) {
	t.Helper()
	t.Errorf("%v\nTROUPE_SEED=%d runs it again; testdata/simulation/seeds keeps it", err, seed)
}

// keptSeeds returns the seeds that have failed before. Each line of the file contains a seed and a
// description of the failure.
func keptSeeds(t *testing.T, name string) (seeds []uint64) {
	t.Helper()
	file := must.Get(os.Open("testdata/simulation/" + name))(t)
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		text, _, _ := strings.Cut(lines.Text(), " ")
		seed := must.Get(strconv.ParseUint(text, 10, 64))(t)
		seeds = append(seeds, seed)
	}
	return seeds
}
