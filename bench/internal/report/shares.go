package report

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// cpuProfile is what a processor was seen doing: stacks of functions, and for how long each. It is taken
// from a daemon under load by its own /debug/pprof/ and saved beforehand.
type cpuProfile struct {
	stacks []profiledStack
	total  float64 // nanoseconds
}

// profiledStack is one of them, innermost function first. Functions that were inlined stand in it like
// others.
type profiledStack struct {
	nanoseconds float64
	functions   []string
}

// readProfile has the tool of Go print a profile and reads that. The format of profiles is Protobuf, and
// the tool that reads it comes with Go, so no library is needed.
func readProfile(path string) (*cpuProfile, error) {
	text, err := exec.Command("go", "tool", "pprof", "-raw", path).Output()
	if err != nil {
		return nil, fmt.Errorf("go tool pprof -raw %s: %w", path, err)
	}
	return parseProfile(text)
}

var (
	rawSample   = regexp.MustCompile(`^ *\d+ +(\d+): ([\d ]+)$`)
	rawLocation = regexp.MustCompile(`^ *(\d+): 0x[0-9a-f]+ (?:M=\d+ )?(.*)$`)
)

// parseProfile reads samples, which name locations by number, then what is at those: one function, and on
// lines of their own those that it is part of by inlining. Functions of a stack are all that counts here;
// lines and addresses are dropped.
func parseProfile(text []byte) (*cpuProfile, error) {
	type sample struct {
		nanoseconds float64
		locations   []string
	}
	var (
		samples []sample
		at      string // the location that is being read
		there   = make(map[string][]string)
	)
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<20)
	section := ""
	for lines.Scan() {
		line := lines.Text()
		switch {
		case line == "Samples:" || line == "Locations" || line == "Mappings":
			section = line
		case section == "Samples:":
			if m := rawSample.FindStringSubmatch(line); m != nil {
				ns, _ := strconv.ParseFloat(m[1], 64)
				samples = append(samples, sample{ns, strings.Fields(m[2])})
			}
		case section == "Locations":
			rest := line
			if m := rawLocation.FindStringSubmatch(line); m != nil {
				at, rest = m[1], m[2]
			}
			if name := strings.Fields(rest); len(name) > 0 {
				there[at] = append(there[at], name[0])
			}
		}
	}
	p := &cpuProfile{}
	for _, s := range samples {
		stack := profiledStack{nanoseconds: s.nanoseconds}
		for _, location := range s.locations {
			stack.functions = append(stack.functions, there[location]...)
		}
		p.stacks, p.total = append(p.stacks, stack), p.total+s.nanoseconds
	}
	if p.total == 0 {
		return nil, fmt.Errorf("the profile holds no samples")
	}
	return p, lines.Err()
}

// systemCall is in every stack that is in the kernel because it asked for it. Page faults and
// interrupts are not told apart from what they interrupt.
var systemCall = regexp.MustCompile(`^((internal/runtime/)?syscall[./]|runtime\.(futex|madvise|usleep)$)`)

// shares are the parts of the work, by a function that is in the stacks of each. They overlap. The
// expressions name packages and functions of this module, so a part that is renamed shows as 0 %: it has to
// be renamed here as well.
var shares = []struct {
	what string
	by   *regexp.Regexp
}{
	{"all system calls", systemCall},
	{"writing to clients through TLS", regexp.MustCompile(`^crypto/tls\.\(\*Conn\)\.Write$`)},
	{"reading from clients through TLS", regexp.MustCompile(`^crypto/tls\.\(\*Conn\)\.Read$`)},
	{"audit log", regexp.MustCompile(`/troupe/policy/audit\.`)},
	{"authentication and authorization", regexp.MustCompile(`/troupe/policy/(authn|authz)\.`)},
	{"decoding of bodies and of what is stored", regexp.MustCompile(`/troupe/kinds/codec\.(\(\*decoder\)\.|[dD]ecode)`)},
	{"working out changes: merge, ownership, validation, encoding", regexp.MustCompile(`/troupe/actors/mutation\.`)},
	{"journal: frames, checksums, write and sync", regexp.MustCompile(`/troupe/persist\.`)},
	{"sessions of watches, with their writes", regexp.MustCompile(`/troupe/actors\.\(\*watch\)\.`)},
	{"publication: indexes, histories, answers to writers", regexp.MustCompile(`/troupe/actors\.\(\*publisher\)\.`)},
	{"allocation", regexp.MustCompile(`^runtime\.(mallocgc|growslice|newobject|makeslice)`)},
	{"collection of garbage", regexp.MustCompile(`^runtime\.(gcBgMarkWorker|bgsweep|gcAssistAlloc|bgscavenge)`)},
	{"finding work for threads and letting them sleep", regexp.MustCompile(`^runtime\.(schedule|findRunnable|park_m|mcall)$`)},
}

// ofParts is the share of each part, in percent.
func (p *cpuProfile) ofParts() []float64 {
	out := make([]float64, len(shares))
	for i, part := range shares {
		for _, s := range p.stacks {
			if slices.ContainsFunc(s.functions, part.by.MatchString) {
				out[i] += 100 * s.nanoseconds / p.total
			}
		}
	}
	return out
}

// WriteShares puts what profiles say of the parts of the work between the marks of a Markdown file, a column
// for each profile, named after its file, and the parts that are largest in all of them together first.
// origin is where and how they were taken; saved profiles do not tell. The table is printed as well, for runs
// that write no file.
func WriteShares(path string, profiles []string, origin *Origin, out io.Writer) error {
	header, line := "| Share of the CPU time |", "|---|"
	columns := make([][]float64, 0, len(profiles))
	for _, profile := range profiles {
		p, err := readProfile(profile)
		if err != nil {
			return err
		}
		columns = append(columns, p.ofParts())
		header += " " + strings.TrimSuffix(filepath.Base(profile), ".pprof") + " |"
		line += "---|"
	}
	rows := make([]int, len(shares))
	for i := range rows {
		rows[i] = i
	}
	sum := func(row int) (sum float64) {
		for _, column := range columns {
			sum += column[row]
		}
		return sum
	}
	slices.SortStableFunc(rows, func(a, b int) int { return cmp.Compare(sum(b), sum(a)) })
	var table strings.Builder
	_, _ = fmt.Fprintf(&table, "\n%s\n%s\n", header, line)
	for _, row := range rows {
		_, _ = fmt.Fprintf(&table, "| %s |", shares[row].what)
		for _, column := range columns {
			_, _ = fmt.Fprintf(&table, " %.1f %% |", column[row])
		}
		table.WriteString("\n")
	}
	if _, err := io.WriteString(out, table.String()); err != nil || path == "" {
		return err
	}
	text := table.String()
	if origin != nil {
		text = origin.Line() + text
	}
	return ReplaceSection(path, "shares", text)
}
