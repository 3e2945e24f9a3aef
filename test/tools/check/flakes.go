//go:build unix

package main

import (
	"context"
	"fmt"
	"os/exec"
	"runtime"
	"strconv"
)

// flakes runs all suites in rounds while other processes keep the CPUs busy, to find tests that
// depend on the machine's speed. The number of CPUs varies between rounds, and every third round
// uses the race detector.
func (c checker) flakes(ctx context.Context, rounds int) error {
	for _, race := range []bool{false, true} {
		if !c.build(ctx, race, suites) {
			return nil // the report contains the error
		}
	}
	stop, err := c.load(ctx, 10*runtime.NumCPU())
	if err != nil {
		return err
	}
	defer stop()
	cpus := []int{1, 2, 8}
	for round := range rounds {
		procs, race := cpus[round%len(cpus)], round%len(cpus) == 1
		for _, suite := range suites {
			name := fmt.Sprintf("round %d: %s, GOMAXPROCS=%d", round+1, suite, procs)
			if race {
				name += ", race"
			}
			c.stage(name, c.run(ctx, suiteRun{folder: suite, race: race, env: append(c.environment(suite == onDisk), "GOMAXPROCS="+strconv.Itoa(procs))}))
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
	}
	return nil
}

func (c checker) load(ctx context.Context, processes int) (stop func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	var started []*exec.Cmd
	stop = func() {
		cancel()
		for _, p := range started {
			_ = p.Wait() // the process was killed
		}
	}
	for range processes {
		p := exec.CommandContext(ctx, "sh", "-c", "while :; do :; done")
		if err := p.Start(); err != nil {
			stop()
			return nil, err
		}
		started = append(started, p)
	}
	return stop, nil
}
