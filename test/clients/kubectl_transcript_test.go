package clients

import (
	"fmt"
	"regexp"
	"strings"
)

// A step is one shell command of a test, with its output and exit code.
type step struct {
	command string
	output  string // standard output and error, normalized
	exit    int
}

func commands(table string) (all []string) {
	for line := range strings.Lines(table) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "#") {
			all = append(all, line)
		}
	}
	return all
}

func writeKubectl(steps []step) string {
	var b strings.Builder
	for _, s := range steps {
		fmt.Fprintf(&b, "$ %s\n%s", s.command, s.output)
		if s.exit != 0 {
			fmt.Fprintf(&b, "[exit %d]\n", s.exit)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// varying lists patterns for output that varies between runs. The pattern for ages comes last,
// because it also matches parts of times.
var varying = []struct {
	name *regexp.Regexp
	with string
}{
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "UID"},
	{regexp.MustCompile(`127\.0\.0\.1:\d+`), "ADDR"},
	{regexp.MustCompile(`-api-access-[a-z0-9]{5}\b`), "-api-access-SUFFIX"},
	{regexp.MustCompile(`X509SHA256=[0-9a-f]{64}`), "X509SHA256=HASH"},
	{regexp.MustCompile(`(resourceVersion\\?"?: ?)\\?"\d+\\?"`), `$1"RV"`},
	{regexp.MustCompile(`(Resource Version: +)\d+`), "${1}RV"},
	{regexp.MustCompile(`20\d\d-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d{4} [A-Z]+`), "TIME"},
	{regexp.MustCompile(`20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`), "TIME"},
	{regexp.MustCompile(`(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z]{2} 20\d\d \d\d:\d\d:\d\d [+-]\d{4}`), "TIME"},
	{regexp.MustCompile(`(\S) {2,}`), "$1   "},
	{regexp.MustCompile(`(^|[^:\s]   )(\d+[ydhms])+( \(x\d+ over (\d+[ydhms])+\))?(   |$)`), "${1}AGE$3$5"},
	{regexp.MustCompile(`over (\d+[ydhms])+\)`), "over AGE)"},
	{regexp.MustCompile(`-{4,}`), "----"},
}

const namingWarning = "Warning: this server uses vendor-neutral names"

// normalize replaces values that vary between runs, separates columns with three spaces, and trims
// trailing spaces.
func normalize(output string) string {
	var b strings.Builder
	for line := range strings.Lines(output) {
		if strings.HasPrefix(line, namingWarning) {
			continue // printed by kubectl, and not by troupe
		}
		line = strings.TrimRight(line, " \n")
		for _, v := range varying {
			line = v.name.ReplaceAllString(line, v.with)
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}
