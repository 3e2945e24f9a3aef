package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

type part struct {
	name    string
	share   int    // share of the time, relative to other parts
	folder  string // relative to the root of the repository
	command string // %s is replaced by the time
	// environment lists environment variables in addition to TROUPE_SOAK.
	environment []string
}

// parts returns all parts except fuzzing. Those likely to fail soonest come first.
func parts() []part {
	const test = "go test -vet=off -v -count 1 -timeout 24h "
	onEtcd := []string{"TROUPE_STORE=etcd", "TROUPE_DAEMONS=3"}
	return []part{
		{name: "every operation of the disk, every bit, every byte", share: 2, folder: ".", command: test + "-run ^(TestFlipEveryBit|TestFullDiskHeals|TestTruncateAnywhere|TestCrashEverywhere|TestFaultsEverywhere|TestPoints|TestPointsOfDamage)$ ./persist"},
		{name: "servers that share a log", share: 2, folder: ".", command: test + "-race -run ^TestServersShareALog$ ./actors"},
		{name: "controllers that are killed", share: 4, folder: ".", command: test + "-run ^TestKills$ ./actors/controllers"},
		{name: "simulation", share: 12, folder: "test", command: test + "-run ^TestSimulationHistories$ ./storage"},
		{name: "simulation of replicas", share: 5, folder: "test", command: test + "-run ^TestSimulationReplicas$ ./storage"},
		{name: "kills", share: 12, folder: "test", command: test + "-run ^TestKills$ ./storage"},
		{name: "power cuts", share: 12, folder: "test", command: test + "-run ^TestPowerCuts$ ./storage"},
		{name: "system calls that fail", share: 7, folder: "test", command: test + "-run ^TestSystemCalls$ ./storage"},
		{name: "system calls that fail at the start", share: 5, folder: "test", command: test + "-run ^TestSystemCallsAtStart$ ./storage"},
		{name: "linearizability", share: 4, folder: "test", command: test + "-race -run ^TestLinearizable$ ./storage"},
		{name: "linearizability of three daemons on etcd, with faults", share: 5, folder: "test", command: test + "-run ^TestFaults$ ./storage", environment: onEtcd},
		{name: "ownership against the public library", share: 3, folder: "test", command: test + "-run ^Test(Definitions|AgainstTheOracle)$ ./api"},
		{name: "patches against the public library", share: 3, folder: "test", command: test + "-run ^TestStrategicAgainstTheOracle$ ./api"},
		{name: "hostile objects", share: 4, folder: "test", command: test + "-run ^TestHostileObjects$ ./policy"},
		{name: "users beside a hostile one", share: 3, folder: "test", command: test + "-run ^TestHostileUser$ ./policy"},
		{name: "users beside a hostile one, on etcd", share: 1, folder: "test", command: test + "-run ^TestHostileUser$ ./policy", environment: []string{"TROUPE_STORE=etcd"}},
		{name: "malformed requests", share: 10, folder: "test", command: test + "-run ^TestMalformedRequests$ ./storage"},
		{name: "crowds and memory", share: 4, folder: "test", command: test + "-run ^Test(ManyConnections|SilentConnections|StalledReaders|ListMemory|ScarceMemory|HistoryIsBounded|RecoveryNeedsNoMoreThanServing|AbruptDisconnects)$ ./storage"},
		{name: "memory of bombs and of definitions that come and go", share: 1, folder: "test", command: test + "-p 1 -run ^Test(Bombs|Flaps)$ ./policy ./extension"},
		{name: "requests that must not take long", share: 1, folder: "test", command: test + "-p 1 -run ^Test(LongLists|Repetition|Bounds|ForgedPatches|RequestDeadline|NothingElseWaits|QuotasOverKills|EtcdAway)$ ./policy ./extension ./storage"},
		{name: "mixed load, and what grows", share: 5, folder: ".", command: "go run ./bench --workloads soak --duration %s --floor=false --start bin/troupe --start-arg=--audit-log-maxbackup=1"},
	}
}

const fuzzShare = 24

var fuzzTarget = regexp.MustCompile(`(?m)^func (Fuzz\w+)\(f \*testing\.F\)`)

func fuzzParts(root string) (list []part, err error) {
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && slices.Contains([]string{".git", "bin", "node_modules", "testdata"}, entry.Name()) {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, target := range fuzzTarget.FindAllSubmatch(text, -1) {
			folder, err := filepath.Rel(root, filepath.Dir(path))
			if err != nil {
				return err
			}
			list = append(list, fuzzPart(folder, string(target[1])))
		}
		return nil
	})
	return list, err
}

func fuzzPart(folder, target string) part {
	module, inside := ".", folder
	if rest, ok := strings.CutPrefix(folder, "test"+string(filepath.Separator)); ok {
		module, inside = "test", rest
	}
	return part{name: folder + " " + target, folder: module, command: fmt.Sprintf("go test -vet=off -run ^$ -fuzz ^%s$ -fuzztime %%s ./%s", target, inside)}
}

// plan divides the time among all parts and fuzz targets by their shares.
func plan(all []part, fuzzing []part, whole time.Duration) (times []time.Duration) {
	shares := 0
	if len(fuzzing) > 0 {
		shares = fuzzShare
	}
	for _, p := range all {
		shares += p.share
	}
	for _, p := range all {
		times = append(times, whole*time.Duration(p.share)/time.Duration(shares))
	}
	for range fuzzing {
		times = append(times, whole*fuzzShare/time.Duration(shares*len(fuzzing)))
	}
	return times
}
