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

// Origin is where and of what a report was made. A figure without it cannot be repeated, so pages show it
// beside every table.
type Origin struct {
	Began   time.Time `json:"began"`
	Command string    `json:"command"`
	Commit  string    `json:"commit"`
	Machine string    `json:"machine"`
}

const unknown = "unknown"

// NewOrigin is the origin of a report that begins now; args are those of the command. The time is that of
// the beginning, cut to seconds.
func NewOrigin(args []string) *Origin {
	return &Origin{
		Began:   time.Now().UTC().Truncate(time.Second),
		Command: commandLine(args),
		Commit:  commit(),
		Machine: machine(),
	}
}

// Line says all of it. It is Markdown, for the top of a table.
func (o *Origin) Line() string {
	return fmt.Sprintf("%s, commit %s, on %s:\n`%s`\n", o.Began.Format("2006-01-02 15:04 MST"), o.Commit, o.Machine, o.Command)
}

// commandLine is what was typed, without the value of the token. Reports are published, and the token may
// be good for longer than the run.
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

// commit is that of the working directory; its changes show as "-dirty". Figures of a tree with changes
// belong to no commit, which the suffix says.
func commit() string {
	text, err := exec.Command("git", "--no-optional-locks", "describe", "--always", "--dirty", "--abbrev=12").Output()
	if err != nil {
		return unknown
	}
	return strings.TrimSpace(string(text))
}

// machine is the processor, memory and system on one line. It comes from /proc and is "unknown" elsewhere;
// the harness runs on Linux.
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

// fileField is the value behind the first "name:" of a file of /proc. It is "unknown" where the file or the
// name is missing, as on other systems.
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
