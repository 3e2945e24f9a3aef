package command

import (
	"bufio"
	"context"
	"errors"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"time"
)

// A scrape holds a daemon's metrics at one time, keyed by series name with labels:
//
//	{"troupe_watchers": 12, `troupe_objects{resource="pods"}`: 340}
type scrape struct {
	at      time.Time
	samples map[string]float64
}

func (r *daemonClient) scrape(ctx context.Context) (*scrape, error) {
	body, err := r.get(ctx, "/metrics")
	if err != nil {
		return nil, err
	}
	defer body.Close()
	return readScrape(body, time.Now())
}

// readScrape reads the daemon's text exposition format. Each line consists of a series, a space and
// a number, without a timestamp. A line may be up to 1 MiB long, because labels contain object
// names.
func readScrape(text io.Reader, at time.Time) (*scrape, error) {
	s := &scrape{at: at, samples: map[string]float64{}}
	lines := bufio.NewScanner(text)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		space := strings.LastIndexByte(line, ' ')
		if space < 0 {
			return nil, errors.New("not in the text exposition format: " + strconv.Quote(line))
		}
		value, err := strconv.ParseFloat(line[space+1:], 64)
		if err != nil {
			return nil, err
		}
		s.samples[line[:space]] = value
	}
	return s, lines.Err()
}

// value returns the value of a series. A missing series is 0, so that newer clients work with older
// daemons.
func (s *scrape) value(name string) float64 { return s.samples[name] }

func (s *scrape) resourceValue(name, resource string) float64 {
	return s.samples[series(name, resource)]
}

func series(name, resource string) string { return name + "{resource=" + strconv.Quote(resource) + "}" }

// sum returns the sum of a metric's series. An optional regular expression, such as `code="5`,
// selects series by their labels.
func (s *scrape) sum(name string, pattern ...string) float64 {
	match, total := regexp.MustCompile(strings.Join(pattern, "")), s.samples[name]
	for series, value := range s.samples {
		if labels, ok := strings.CutPrefix(series, name+"{"); ok && match.MatchString(labels) {
			total += value
		}
	}
	return total
}

// label returns the value of a label in any series of a metric, or "".
func (s *scrape) label(name, label string) string {
	match := regexp.MustCompile(`(?:^|,)` + label + `="([^"]*)"`)
	for series := range s.samples {
		if labels, ok := strings.CutPrefix(series, name+"{"); ok {
			if found := match.FindStringSubmatch(strings.TrimSuffix(labels, "}")); found != nil {
				return found[1]
			}
		}
	}
	return ""
}

// labels returns the sorted values of a label over all series of a metric whose value is positive.
// The series must have no other labels.
func (s *scrape) labels(name, label string) (all []string) {
	for series, value := range s.samples {
		if labels, ok := strings.CutPrefix(series, name+"{"+label+`="`); ok && value > 0 {
			all = append(all, strings.TrimSuffix(labels, `"}`))
		}
	}
	slices.Sort(all)
	return all
}

// fill executes an embedded template with the values of a scrape. It panics if the template is
// invalid.
func (s *scrape) fill(text string, more template.FuncMap) string {
	t := template.New("").Funcs(template.FuncMap{
		"value": s.value, "sum": s.sum, "label": s.label, "labels": s.labels, "resources": s.resources,
		"count": count, "size": size, "short": short, "ratio": ratio, "join": strings.Join,
		"add": func(a, b float64) float64 { return a + b },
		"sub": func(a, b float64) float64 { return max(0, a-b) },
	})
	var b strings.Builder
	if err := template.Must(t.Funcs(more).Parse(text)).Execute(&b, nil); err != nil {
		panic(err)
	}
	return b.String()
}

func (s *scrape) resources(name string) (all []string) {
	for series := range s.samples {
		if label, ok := strings.CutPrefix(series, name+"{resource="); ok {
			if resource, err := strconv.Unquote(strings.TrimSuffix(label, "}")); err == nil {
				all = append(all, resource)
			}
		}
	}
	return all
}
