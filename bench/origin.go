package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// Origin describes the time, machine and commit of a report.
type Origin struct {
	Began   time.Time `json:"began"`
	Command string    `json:"command"`
	Commit  string    `json:"commit"` // of the working directory, with "-dirty" if it has changes
	Machine string    `json:"machine"`
}

const unknown = "unknown"

func newOrigin(args []string) *Origin {
	o := &Origin{Began: time.Now().UTC().Truncate(time.Second), Command: strings.Join(append([]string{"go run ./bench"}, args...), " "), Commit: unknown, Machine: machine()}
	if text, err := exec.Command("git", "--no-optional-locks", "describe", "--always", "--dirty", "--abbrev=12").Output(); err == nil {
		o.Commit = strings.TrimSpace(string(text))
	}
	return o
}

// machine describes the processor, memory and operating system.
func machine() string {
	memory := unknown
	var kib float64
	if _, err := fmt.Sscanf(fileField("/proc/meminfo", "MemTotal"), "%f kB", &kib); err == nil {
		memory = short(kib/(1<<20)) + " GiB"
	}
	kernel, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		kernel = []byte(unknown)
	}
	return fmt.Sprintf("%d × %s, %s memory, %s/%s %s, %s", runtime.NumCPU(), fileField("/proc/cpuinfo", "model name"), memory,
		runtime.GOOS, runtime.GOARCH, strings.TrimSpace(string(kernel)), runtime.Version())
}

// fileField returns the value of the first line "name: value" in a file, or "unknown".
func fileField(path, name string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return unknown
	}
	for line := range strings.Lines(string(text)) {
		if key, value, found := strings.Cut(line, ":"); found && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return unknown
}
