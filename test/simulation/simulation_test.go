package simulation

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
)

const (
	shortHistories = 25
	soakTime       = 8 * time.Minute
)

// TestHistories (1 to 6, 8, 9, 12, 14, 17, 19, 20, 23, 24, 25) makes a history of each seed: those that have failed once, then as many as there is time for.
func TestHistories(t *testing.T) {
	kinds, err := catalog.New(meta.Platform)
	if err != nil {
		t.Fatal(err)
	}
	if text := os.Getenv("TROUPE_SEED"); text != "" {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		runSeeds(t, kinds, []uint64{seed})
		return
	}
	seeds := keptSeeds(t)
	for seed := range uint64(shortHistories) {
		seeds = append(seeds, seed)
	}
	runSeeds(t, kinds, seeds)
	if os.Getenv("TROUPE_SOAK") == "" {
		return
	}
	for end, next := time.Now().Add(soakTime), uint64(shortHistories); time.Now().Before(end); next += 100 {
		seeds = seeds[:0]
		for n := range uint64(100) {
			seeds = append(seeds, next+n)
		}
		runSeeds(t, kinds, seeds)
	}
}

func runSeeds(t *testing.T, kinds *catalog.Catalog, seeds []uint64) {
	t.Helper()
	began := time.Now()
	var sum history
	for _, seed := range seeds {
		h, err := run(kinds, seed)
		if err != nil {
			t.Fatalf("%v\nTROUPE_SEED=%d runs it again; testdata/seeds keeps it", err, seed)
		}
		sum.crashes += h.crashes
		sum.acknowledged += h.acknowledged
		sum.lost += h.lost
		sum.full += h.full
	}
	if len(seeds) >= shortHistories && (sum.lost == 0 || sum.full == 0 || sum.acknowledged < len(seeds)) {
		t.Errorf("too little has happened: %d writes acknowledged, %d answers lost, %d writes without room", sum.acknowledged, sum.lost, sum.full)
	}
	t.Logf("%d histories, %d crashes, %d writes acknowledged, %d answers lost, %d writes without room, in %v",
		len(seeds), sum.crashes, sum.acknowledged, sum.lost, sum.full, time.Since(began).Round(time.Millisecond))
}

// keptSeeds are those whose histories have failed once: a number and what it found on each line.
func keptSeeds(t *testing.T) (seeds []uint64) {
	t.Helper()
	file, err := os.Open("testdata/seeds")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		text, _, _ := strings.Cut(lines.Text(), " ")
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		seeds = append(seeds, seed)
	}
	return seeds
}
