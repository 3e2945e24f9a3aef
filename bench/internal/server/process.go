package server

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// Tick is the unit of the CPU times in /proc/<pid>/stat (USER_HZ is 100 on every port of Go).
const Tick = 10 * time.Millisecond

// Usage is what the processes of a server have used: CPU time since they started, and resident memory now,
// in bytes. CPU time has a resolution of Tick, so it means something only for loads of many operations.
type Usage struct {
	CPU      time.Duration
	Resident int64
}

// ReadUsage adds up the usage of all processes. It fails if one of them is gone. A process that has ended
// has taken its figures along; the caller leaves the cost out then.
func ReadUsage(processes []int) (Usage, error) {
	var sum Usage
	for _, id := range processes {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", id))
		if err != nil {
			return Usage{}, err
		}
		cpu, err := parseStat(stat)
		if err != nil {
			return Usage{}, fmt.Errorf("process %d: %w", id, err)
		}
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", id))
		if err != nil {
			return Usage{}, err
		}
		resident, err := parseStatus(status)
		if err != nil {
			return Usage{}, fmt.Errorf("process %d: %w", id, err)
		}
		sum.CPU += cpu
		sum.Resident += resident
	}
	return sum, nil
}

// parseStat returns utime + stime. The command's name is in parentheses and may itself hold
// spaces and parentheses, so fields are counted from the last one.
func parseStat(stat []byte) (time.Duration, error) {
	end := bytes.LastIndexByte(stat, ')')
	if end < 0 {
		return 0, fmt.Errorf("stat without a command: %q", stat)
	}
	fields := strings.Fields(string(stat[end+1:]))
	const utime, stime = 11, 12 // fields 14 and 15 of the line, the first two being gone
	if len(fields) <= stime {
		return 0, fmt.Errorf("stat is too short: %q", stat)
	}
	var ticks int64
	for _, field := range fields[utime : stime+1] {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, err
		}
		ticks += n
	}
	return time.Duration(ticks) * Tick, nil
}

// parseStatus returns VmRSS in bytes.
func parseStatus(status []byte) (int64, error) {
	for line := range strings.Lines(string(status)) {
		value, found := strings.CutPrefix(line, "VmRSS:")
		if !found {
			continue
		}
		kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		return kib << 10, err
	}
	return 0, fmt.Errorf("no VmRSS: has the process ended?")
}
