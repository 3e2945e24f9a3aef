package report

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/troupe-api/troupe/bench/internal/measure"
)

// Origin is where and of what a report was made.
type Origin struct {
	Began   time.Time `json:"began"`
	Command string    `json:"command"`
	Commit  string    `json:"commit"`
	Machine string    `json:"machine"`
}

const unknown = "unknown"

// NewOrigin is the origin of a report that begins now; args are those of the command.
func NewOrigin(args []string) *Origin {
	return &Origin{
		Began:   time.Now().UTC().Truncate(time.Second),
		Command: commandLine(args),
		Commit:  commit(),
		Machine: machine(),
	}
}

// Line says all of it.
func (o *Origin) Line() string {
	return fmt.Sprintf("%s, commit %s, on %s:\n`%s`\n", o.Began.Format("2006-01-02 15:04 MST"), o.Commit, o.Machine, o.Command)
}

// commandLine is what was typed, without the value of the token.
func commandLine(args []string) string {
	const secret = "--user-token"
	line := "go run ./bench"
	hide := false
	for _, arg := range args {
		switch {
		case hide:
			arg = "…"
		case strings.HasPrefix(arg, secret+"="):
			arg = secret + "=…"
		}
		hide = arg == secret
		line += " " + arg
	}
	return line
}

// commit is that of the working directory; its changes show as "-dirty".
func commit() string {
	text, err := exec.Command("git", "--no-optional-locks", "describe", "--always", "--dirty", "--abbrev=12").Output()
	if err != nil {
		return unknown
	}
	return strings.TrimSpace(string(text))
}

// machine is the processor, memory and system on one line.
func machine() string {
	model := fileField("/proc/cpuinfo", "model name")
	memory := unknown
	var kib float64
	if _, err := fmt.Sscanf(fileField("/proc/meminfo", "MemTotal"), "%f kB", &kib); err == nil {
		memory = measure.Short(kib/(1<<20)) + " GiB"
	}
	kernel, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		kernel = []byte(unknown)
	}
	return fmt.Sprintf("%d × %s, %s memory, %s/%s %s, %s", runtime.NumCPU(), model, memory, runtime.GOOS, runtime.GOARCH, strings.TrimSpace(string(kernel)), runtime.Version())
}

// fileField is the value behind the first "name:" of a file of /proc.
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
