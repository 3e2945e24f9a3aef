package http

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/http/internal/apierrors"
	"github.com/troupe-api/troupe/http/internal/negotiate"
	"github.com/troupe-api/troupe/internal/metrics"
)

// A Check is one health check. Its error is logged and never shown to clients.
type Check struct {
	Name  string
	Check func() error
	// Remark, if set, returns text that the verbose form shows to any client after "ok".
	Remark func() string
	// NotLive excludes the check from /livez, because a restart would not help.
	NotLive bool
}

var healthNames = []string{"livez", "readyz", "healthz"}

func isHealth(path string) bool {
	for _, name := range healthNames {
		if rest, ok := strings.CutPrefix(path, "/"+name); ok && (rest == "" || rest[0] == '/') {
			return true
		}
	}
	return false
}

var errDraining = errors.New("the server is shutting down")

// checks returns the checks of one endpoint. During a shutdown, only /readyz fails, so that load
// balancers redirect traffic but the server is not restarted.
func (s *Server) checks(endpoint string) []Check {
	all := []Check{{Name: "ping", Check: func() error { return nil }}}
	for _, c := range s.opts.Checks {
		if endpoint != "livez" || !c.NotLive {
			all = append(all, c)
		}
	}
	if endpoint == "readyz" {
		all = append(all, Check{Name: "shutdown", Check: func() error {
			if s.draining.Load() {
				return errDraining
			}
			return nil
		}})
	}
	return all
}

// health serves one endpoint. The response is "ok". With ?verbose or after a failure, it lists the
// result of every check, such as "[+]ping ok". ?exclude=name skips a check.
func (s *Server) health(endpoint string) func(*requestContext) error {
	checks := s.checks(endpoint)
	return func(x *requestContext) error {
		excluded := x.target.Query.Values("exclude")
		var lines strings.Builder
		failed := false
		for _, c := range checks {
			if slices.Contains(excluded, c.Name) {
				fmt.Fprintf(&lines, "[+]%s excluded: ok\n", c.Name)
				continue
			}
			failed = s.runCheck(&lines, endpoint, c) || failed
		}
		verbose := x.target.Query.Flag("verbose")
		switch {
		case failed:
			x.ctx.SetStatusCode(500)
			s.writeText(x, lines.String()+endpoint+" check failed\n")
		case verbose:
			s.writeText(x, lines.String()+endpoint+" check passed\n")
		default:
			s.writeText(x, "ok")
		}
		return nil
	}
}

func (s *Server) runCheck(lines *strings.Builder, endpoint string, c Check) bool {
	err := c.Check()
	s.healthMetrics.record(endpoint, c.Name, err)
	if err == nil {
		remark := ""
		if c.Remark != nil {
			remark = c.Remark()
		}
		fmt.Fprintf(lines, "[+]%s ok%s\n", c.Name, remark)
		return false
	}
	s.log.Warn("health check failed", "endpoint", endpoint, "check", c.Name, "error", err)
	fmt.Fprintf(lines, "[-]%s failed: reason withheld\n", c.Name)
	return true
}

func (s *Server) healthCheck(endpoint string) func(*requestContext) error {
	checks := s.checks(endpoint)
	return func(x *requestContext) error {
		name := strings.TrimPrefix(x.info.Path, "/"+endpoint+"/")
		i := slices.IndexFunc(checks, func(c Check) bool { return c.Name == name })
		if i < 0 {
			return apierrors.PageNotFound()
		}
		if err := checks[i].Check(); err != nil {
			s.log.Warn("health check failed", "endpoint", endpoint, "check", name, "error", err)
			x.ctx.SetStatusCode(500)
			s.writeText(x, "internal server error: reason withheld\n")
			return nil
		}
		s.writeText(x, "ok")
		return nil
	}
}

func (s *Server) writeText(x *requestContext, text string) {
	x.setHeader("X-Content-Type-Options", "nosniff")
	s.writeRaw(x, negotiate.TypeText, []byte(text))
}

// healthMetrics records the last result of each check, and counts successes and failures.
// Requests for a single check are not counted.
type healthMetrics struct {
	result *metrics.Gauges
	total  *metrics.Counters
}

func newHealthMetrics() healthMetrics {
	return healthMetrics{
		metrics.NewGauges("kubernetes_healthcheck", "Result of the last health check: 1 for success.", "name", "type"),
		metrics.NewCounters("kubernetes_healthchecks_total", "Health checks by result.", "name", "status", "type"),
	}
}

func (m *healthMetrics) record(endpoint, check string, err error) {
	status, passed := "success", 1.0
	if err != nil {
		status, passed = "error", 0
	}
	m.result.With(check, endpoint).Set(passed)
	m.total.With(check, status, endpoint).Inc()
}

func (s *Server) writeHealthMetrics(x *requestContext) error {
	var b bytes.Buffer
	metrics.Write(&b, s.healthMetrics.result, s.healthMetrics.total,
		metrics.GaugeValue("process_start_time_seconds", "Start time of the process since the Unix epoch in seconds.", float64(s.started.UnixMilli())/1000))
	x.setHeader("X-Content-Type-Options", "nosniff")
	s.writeRaw(x, typeMetrics, b.Bytes())
	return nil
}
